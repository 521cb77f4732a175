"""The tables of a store, and how those of older versions become them. Migrations go forward only."""

from driftbandit.service.database import Database, Statement, Transaction

VERSION = 1

TABLES = """
CREATE TABLE meta (
    name {text} PRIMARY KEY,
    value {text} NOT NULL
);
CREATE TABLE experiment (
    number {whole} PRIMARY KEY,
    name {text} NOT NULL UNIQUE,
    settings {text} NOT NULL,
    begun {real} NOT NULL,
    state {text} NOT NULL,
    only_arms {text},
    kept_from {real} NOT NULL,
    version {whole} NOT NULL
);
CREATE TABLE arm (
    experiment {whole} NOT NULL,
    number {whole} NOT NULL,
    name {text} NOT NULL,
    added {real},
    start {text},
    added_after {whole},
    added_learned {whole},
    removed {real},
    removed_after {whole},
    removed_learned {whole},
    PRIMARY KEY (experiment, number)
);
CREATE TABLE slot (
    slot {whole} PRIMARY KEY,
    started {real} NOT NULL,
    version {text} NOT NULL,
    seen {real} NOT NULL,
    lag {real},
    counted {whole} NOT NULL,
    rewards {whole} NOT NULL
);
CREATE TABLE mark (
    experiment {whole} NOT NULL,
    slot {whole} NOT NULL,
    counted {whole} NOT NULL,
    last {whole} NOT NULL,
    PRIMARY KEY (experiment, slot)
){suffix};
CREATE TABLE decision (
    experiment {whole} NOT NULL,
    id {whole} NOT NULL,
    arm {whole} NOT NULL,
    time {real} NOT NULL,
    stamp {real} NOT NULL,
    used {real} NOT NULL,
    eligible {whole} NOT NULL,
    probability {real} NOT NULL,
    among {text},
    made {real} NOT NULL,
    PRIMARY KEY (experiment, id)
){suffix};
CREATE TABLE key (
    experiment {whole} NOT NULL,
    key {text} NOT NULL,
    first {whole} NOT NULL,
    count {whole} NOT NULL,
    until {real} NOT NULL,
    PRIMARY KEY (experiment, key)
){suffix};
CREATE TABLE reward (
    experiment {whole} NOT NULL,
    decision {whole} NOT NULL,
    value {real},
    time {real} NOT NULL,
    kind {text} NOT NULL,
    writer {whole} NOT NULL,
    number {whole} NOT NULL,
    after {whole} NOT NULL,
    PRIMARY KEY (experiment, decision)
){suffix};
CREATE UNIQUE INDEX reward_number ON reward (writer, number);
CREATE TABLE rollup (
    experiment {whole} NOT NULL,
    minute {whole} NOT NULL,
    slot {whole} NOT NULL,
    arm {whole} NOT NULL,
    decisions {whole} NOT NULL,
    odds {real} NOT NULL,
    weight {real} NOT NULL,
    weight_2 {real} NOT NULL,
    rewards {whole} NOT NULL,
    reward {real} NOT NULL,
    rewarded {real} NOT NULL,
    rewarded_2 {real} NOT NULL,
    paid {real} NOT NULL,
    paid_2 {real} NOT NULL,
    defaults {whole} NOT NULL,
    PRIMARY KEY (experiment, minute, slot, arm)
){suffix};
CREATE TABLE belief (
    experiment {whole} NOT NULL,
    minute {whole} NOT NULL,
    arm {whole} NOT NULL,
    mean {real},
    low {real},
    high {real},
    size {real},
    probability {real},
    PRIMARY KEY (experiment, minute, arm)
){suffix};
CREATE TABLE snapshot (
    experiment {whole} PRIMARY KEY,
    taken {real} NOT NULL,
    vector {text} NOT NULL,
    last {whole} NOT NULL,
    decisions {whole} NOT NULL,
    state {text} NOT NULL
);
"""
"""Of version 1."""

MIGRATIONS: dict[int, str] = {}
"""From each version to the next: statements with a semicolon behind each."""


def statements(database: Database, text: str) -> Transaction[None]:
    """Definitions in the words of a database, one by one."""
    said = text.format(**database.types, suffix=database.suffix)
    for part in said.split(";"):
        if part.strip():
            yield Statement(part.strip())
