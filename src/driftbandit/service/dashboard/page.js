"use strict";
// A page asks for itself again and takes over what is new; everything works without this, by loading the page again.

async function asked(address) {
  const answer = await fetch(address, { credentials: "same-origin", cache: "no-store" });
  if (answer.redirected) { // the session is over: the page itself is led to the door
    location.reload();
    return null;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return { ok: answer.ok, page };
}

function busy(part) {
  const selected = getSelection();
  return part.contains(document.activeElement) ||
    (selected && !selected.isCollapsed && part.contains(selected.anchorNode));
}

function take(old, fresh) {
  for (const details of old.querySelectorAll("details[open][id]")) {
    const same = fresh.querySelector("#" + CSS.escape(details.id));
    if (same) same.open = true;
  }
  if (old.innerHTML !== fresh.innerHTML && !busy(old)) old.replaceChildren(...document.importNode(fresh, true).childNodes);
}

function say(words) {
  document.getElementById("stale").textContent = words;
}

async function refresh() {
  if (document.hidden) return;
  try {
    const found = await asked(location.href);
    if (!found) return;
    if (!found.ok) throw new Error();
    for (const old of document.querySelectorAll("[data-fresh]")) {
      const fresh = found.page.getElementById(old.id);
      if (fresh) take(old, fresh);
    }
    if (found.page.querySelectorAll("[data-fresh]").length !== document.querySelectorAll("[data-fresh]").length) {
      location.reload(); // the first decision has come, or a part has gone
    }
    say("");
  } catch {
    say("The service does not answer: this is what it said last.");
  }
}

async function later(part) {
  const link = part.querySelector("a");
  const words = link.textContent;
  link.textContent = "Working it out …";
  part.setAttribute("aria-busy", "true");
  try {
    const found = await asked(part.dataset.later);
    const fresh = found && found.page.getElementById(part.id);
    if (!fresh) throw new Error();
    part.replaceChildren(...document.importNode(fresh, true).childNodes);
  } catch {
    link.textContent = words;
  }
  part.removeAttribute("aria-busy");
}

for (const part of document.querySelectorAll("[data-later]")) later(part);
const seconds = Number(document.body.dataset.refresh);
if (seconds) setInterval(refresh, 1000 * seconds);
