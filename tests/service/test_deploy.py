"""The files of deploy/: what they name exists, their parts fit together, and nothing in them runs as root."""

import dataclasses
import ipaddress
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from driftbandit._version import __version__
from driftbandit.cli.program import app
from driftbandit.client.connection import KEPT
from driftbandit.service import reports, server
from driftbandit.service.app import Application
from driftbandit.service.guard import new_token
from driftbandit.service.options import Options
from driftbandit.service.postgres import PostgreSQL
from driftbandit.service.process import Service, database_of
from driftbandit.service.sqlite import SQLite

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
PROXY = (DEPLOY / "haproxy.cfg").read_text(encoding="utf-8")
SERVED = {name: each for name, each in COMPOSE["services"].items() if "build" in each}
NOT_OPTIONS = {"DRIFTBANDIT_CACHE"}


def instructions() -> list[list[tuple[str, str]]]:
    """Of the Dockerfile, by stage."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = [line.strip() for line in re.sub(r"\\\n\s*", "", text).splitlines() if line.strip()]
    stages: list[list[tuple[str, str]]] = []
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "FROM":
            stages.append([])
        stages[-1].append((word, rest))
    return stages


STAGES = instructions()
IMAGE = STAGES[-1]


def said(word: str, stage: list[tuple[str, str]] = IMAGE) -> list[str]:
    return [rest for name, rest in stage if name == word]


def environment(stage: list[tuple[str, str]] = IMAGE) -> dict[str, str]:
    return dict(pair.split("=", 1) for rest in said("ENV", stage) for pair in rest.split())


def options(found: dict[str, str]) -> dict[str, str]:
    """Those of the service, by name."""
    return {
        name.removeprefix("DRIFTBANDIT_").lower(): value
        for name, value in found.items()
        if name.startswith("DRIFTBANDIT_") and name not in NOT_OPTIONS
    }


def test_every_option_that_is_set_is_one_of_the_service_with_a_value_that_it_takes() -> None:
    fields = {field.name for field in dataclasses.fields(Options)}
    for found in (environment(), *(each["environment"] for each in SERVED.values())):
        asked: dict[str, Any] = options(found)
        assert asked
        assert asked.keys() <= fields
        Options(**asked | ({"port": int(asked["port"])} if "port" in asked else {}))
    assert set(environment()) - {"PATH"} >= {"DRIFTBANDIT_CACHE", "DRIFTBANDIT_STORE", "DRIFTBANDIT_TOKENS"}


def test_an_image_serves_sqlite_in_its_volume_and_composed_ones_postgresql(tmp_path: Path) -> None:
    asked = options(environment())
    [volume] = said("VOLUME")
    store = database_of(asked["store"], "full")
    assert isinstance(store, SQLite)
    assert store.path.parent == Path(asked["tokens"]).parent == Path(volume)
    for each in SERVED.values():
        assert [mount.split(":")[1] for mount in each["volumes"]] == [volume]
        found = options(each["environment"])["store"]
        assert isinstance(database_of(found, "full"), PostgreSQL)
        name, host = re.fullmatch(r"postgresql://(\w+)@(\w+)/\w+", found).groups()  # type: ignore[union-attr]
        assert COMPOSE["services"][host]["environment"]["POSTGRES_USER"] == name
        assert each["depends_on"][host] == {"condition": "service_healthy"}
    new_token(tmp_path / "tokens.json", "ops", "admin", None, 0.0)
    service = Service(Options(host=asked["host"], tokens=tmp_path / "tokens.json", store=f"sqlite:///{tmp_path}/s.db"))
    forwarded = COMPOSE["services"]["first"]["environment"]["DRIFTBANDIT_TRUSTED_PROXY"]
    service.options = dataclasses.replace(service.options, trusted_proxy=forwarded)
    assert server.configured(service).forwarded_allow_ips == forwarded


def test_every_command_that_is_run_is_there() -> None:
    commands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    commands |= {group.name for group in app.registered_groups if group.name}
    entry, arguments = json.loads(said("ENTRYPOINT")[0]), json.loads(said("CMD")[0])
    assert entry == ["driftbandit"]
    assert PROJECT["scripts"].keys() >= set(entry)
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    named = {arguments[0], *re.findall(r"RUN driftbandit (\w+)", text)}
    assert named == {"serve", "warm"}
    assert named <= commands
    [healthy] = said("HEALTHCHECK")
    compile(json.loads(healthy[healthy.index("[") :])[2], "health", "exec")


def test_ports_and_paths_agree(tmp_path: Path) -> None:
    port = environment()["DRIFTBANDIT_PORT"]
    assert int(port) == Options().port
    assert said("EXPOSE") == [port]
    [healthy] = said("HEALTHCHECK")
    asked = [*re.findall(r"http://127.0.0.1:(\d+)(/\w+)", healthy)]
    servers = re.findall(r"^\s*server \w+ (\w+):(\d+)$", PROXY, flags=re.MULTILINE)
    assert servers == [(name, port) for name in SERVED]
    assert len(servers) == 2
    [bound] = re.findall(r"^\s*bind :(\d+)$", PROXY, flags=re.MULTILINE)
    [published] = COMPOSE["services"]["balancer"]["ports"]
    assert published.split(":") == ["127.0.0.1", port, bound]
    routes = {route.path for route in Application(Service(Options(store=f"sqlite:///{tmp_path}/s.db"))).routes()}
    [path] = re.findall(r"http-check send meth GET uri (\S+)", PROXY)
    assert asked == [(port, path)]
    assert path in routes


def test_images_are_of_a_version_and_nobody_is_root() -> None:
    made = f"driftbandit:{__version__}"
    assert {each["image"] for each in SERVED.values()} == {made}
    assert f"-t {made} ." in (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    images = [rest.split()[0] for stage in STAGES for rest in said("FROM", stage)]
    images += [each["image"] for each in COMPOSE["services"].values()]
    for image in images:
        assert re.fullmatch(r"[a-z/]+:\d+\.?\d*(\.\d+)?(-[a-z-]+)?", image), image
    assert len({image for image in images if image.startswith("python")}) == 1
    python = tuple(map(int, re.findall(r"python:(\d+)\.(\d+)", images[0])[0]))
    assert python >= tuple(map(int, re.findall(r"\d+", PROJECT["requires-python"])))
    [user] = said("USER")
    assert re.fullmatch(r"(\d+):\1", user)
    assert int(user.split(":")[0]) >= 1000
    words = [word for word, _ in IMAGE]
    assert words.index("USER") > max(place for place, word in enumerate(words) if word in ("RUN", "COPY"))
    for name, each in COMPOSE["services"].items():
        assert "privileged" not in each
        assert name in SERVED or each["user"] not in ("root", "0")


def test_what_is_mounted_built_and_waited_for_is_there() -> None:
    for each in COMPOSE["services"].values():
        for mount in each.get("volumes", []):
            source = mount.split(":")[0]
            assert (DEPLOY / source).is_file() if source.startswith(".") else source in COMPOSE["volumes"]
        assert set(each.get("depends_on", [])) <= set(COMPOSE["services"])
        assert set(each["networks"]) <= set(COMPOSE["networks"])
        assert "secret" not in json.dumps(each).lower()
    for each in SERVED.values():
        assert (DEPLOY / each["build"]["context"]).resolve() == ROOT
        assert (ROOT / each["build"]["dockerfile"]).is_file()
        assert float(each["stop_grace_period"].removesuffix("s")) > server.GRACE + 2
        network = COMPOSE["networks"]["inside"]["ipam"]["config"][0]["subnet"]
        assert each["environment"]["DRIFTBANDIT_TRUSTED_PROXY"] == network
        assert ipaddress.ip_network(network).is_private
    passwords = re.findall(r"\$\{(\w+):\?", json.dumps(COMPOSE))
    assert set(passwords) == {"POSTGRES_PASSWORD"}
    assert "/deploy/.env" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_the_balancer_waits_as_long_as_an_answer_may_take_and_sends_nothing_twice() -> None:
    seconds = dict(re.findall(r"^\s*timeout (\S+) (\d+)s", PROXY, flags=re.MULTILINE))
    assert float(seconds["server"]) > reports.LONGEST
    assert re.findall(r"^\s*retry-on (.*?)\s*(?:#|$)", PROXY, flags=re.MULTILINE) == ["conn-failure"]
    [purge] = re.findall(r"pool-purge-delay (\d+)s", PROXY)
    assert float(purge) < KEPT


def test_the_package_is_made_of_what_is_copied(tmp_path: Path) -> None:
    build = STAGES[0]
    for rest in said("COPY", build):
        *sources, target = rest.split()
        for source in sources:
            here, there = ROOT / source, tmp_path / "build" / target
            if here.is_dir():
                shutil.copytree(here, there, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                there.mkdir(parents=True, exist_ok=True)
                shutil.copy(here, there)
    allowed = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8")
    sent = set(re.findall(r"^!(\S+)", allowed, flags=re.MULTILINE))
    assert sent == {source for rest in said("COPY", build) for source in rest.split()[:-1]}
    [asked] = [rest for rest in said("RUN", build) if rest.startswith("pip install")]
    [extras] = re.findall(r'"\.\[([\w,]+)\]"', asked)
    assert set(extras.split(",")) == {"serve", "postgres"} <= PROJECT["optional-dependencies"].keys()
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), "."]
    subprocess.run(command, cwd=tmp_path / "build", check=True, capture_output=True, timeout=300)
    assert len(list(tmp_path.glob("driftbandit-*.whl"))) == 1


@pytest.mark.skipif(shutil.which("haproxy") is None, reason="HAProxy is not installed")
def test_haproxy_takes_its_configuration() -> None:
    subprocess.run(["haproxy", "-c", "-f", str(DEPLOY / "haproxy.cfg")], check=True, capture_output=True, timeout=60)
