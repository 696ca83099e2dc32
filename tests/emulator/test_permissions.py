"""Sharing: who, how, by mail or not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sheets_emulator import Emulator, Person, Refused

FILES = "https://www.googleapis.com/drive/v3/files"


def entries(person: Person, book: str) -> dict[str, str]:
    url = f"{FILES}/{book}/permissions?fields=nextPageToken,permissions"
    found = person.call("GET", url)["permissions"]
    return {entry.get("emailAddress", entry["type"]): entry["role"] for entry in found}


def test_create_list_update_delete(bot: Person, book: str) -> None:
    made = bot.share(book, "ann@example.org")
    assert made == {"kind": "drive#permission", "id": made["id"], "type": "user", "role": "writer"}
    assert entries(bot, book) == {bot.identity: "owner", "ann@example.org": "writer"}
    url = f"{FILES}/{book}/permissions/{made['id']}"
    bot.call("PATCH", url, {"role": "reader"})
    assert entries(bot, book)["ann@example.org"] == "reader"
    assert bot.call("DELETE", url) is None
    assert entries(bot, book) == {bot.identity: "owner"}
    with pytest.raises(Refused, match="Permission not found"):
        bot.call("DELETE", url)


def test_sharing_twice_makes_no_twin(bot: Person, book: str) -> None:
    assert bot.share(book, "ann@example.org")["id"] == bot.share(book, "ann@example.org")["id"]
    assert len(entries(bot, book)) == 2


def test_the_list_shows_what_the_folder_gives(bot: Person) -> None:
    folder = bot.new_folder("Study")
    bot.share(folder, "ben@example.org")
    book = bot.new_spreadsheet("x", folder)
    assert entries(bot, book) == {bot.identity: "owner", "ben@example.org": "writer"}


def test_a_link_opens_the_file_but_lists_it_to_nobody(bot: Person, ann: Person, book: str) -> None:
    bot.share_link(book)
    assert ann.look(book)["properties"]["title"] == "Study"
    assert ann.call("GET", FILES)["files"] == []
    assert entries(bot, book)["anyone"] == "reader"


def test_groups_and_domains(emulator: Emulator, bot: Person, ann: Person, book: str) -> None:
    emulator.files.groups["raters@example.org"] = {ann.identity}
    url = f"{FILES}/{book}/permissions?sendNotificationEmail=false"
    bot.call("POST", url, {"type": "group", "role": "writer", "emailAddress": "raters@example.org"})
    ann.type(book, "A1", 1)
    with pytest.raises(Refused):
        emulator.person("ben@other.org").look(book)
    bot.call("POST", url, {"type": "domain", "role": "reader", "domain": "other.org"})
    emulator.person("ben@other.org").look(book)


def test_mails_are_counted_and_limited(emulator: Emulator, bot: Person, book: str) -> None:
    emulator.quotas.sharing_mails_per_day = 2
    for name in ("a", "b"):
        bot.share(book, f"{name}@example.org", mail=True)
    assert [mail.to for mail in emulator.mails] == ["a@example.org", "b@example.org"]
    with pytest.raises(Refused, match="you have exceeded your sharing quota") as refused:
        bot.share(book, "c@example.org", mail=True)
    assert refused.value.body["error"]["errors"][0]["reason"] == "sharingRateLimitExceeded"
    bot.share(book, "c@example.org", mail=False)
    emulator.clock.advance(86_401)
    bot.share(book, "d@example.org", mail=True)


def test_the_default_is_to_send_mail(emulator: Emulator, bot: Person, book: str) -> None:
    body = {"type": "user", "role": "writer", "emailAddress": "a@example.org"}
    bot.call("POST", f"{FILES}/{book}/permissions?emailMessage=Hello", body)
    assert emulator.mails[0].message == "Hello"


def test_an_address_without_account_needs_a_mail(emulator: Emulator, bot: Person, book: str) -> None:
    emulator.addresses_without_account.add("x@nowhere.org")
    with pytest.raises(Refused, match="no Google account associated"):
        bot.share(book, "x@nowhere.org")
    bot.share(book, "x@nowhere.org", mail=True)


@pytest.mark.parametrize(
    "body",
    [
        {"role": "writer", "emailAddress": "a@b.c"},
        {"type": "user", "emailAddress": "a@b.c"},
        {"type": "user", "role": "king", "emailAddress": "a@b.c"},
        {"type": "user", "role": "writer", "emailAddress": "nonsense"},
        {"type": "user", "role": "owner", "emailAddress": "a@b.c"},
        {"type": "user", "role": "organizer", "emailAddress": "a@b.c"},
    ],
)
def test_permissions_that_are_refused(bot: Person, book: str, body: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        bot.call("POST", f"{FILES}/{book}/permissions", body)
    assert refused.value.status in (400, 403)


def test_readers_may_not_share_or_list(bot: Person, ann: Person, book: str) -> None:
    bot.share(book, ann.identity, "reader")
    with pytest.raises(Refused, match="sufficient permissions"):
        ann.share(book, "x@example.org")
    with pytest.raises(Refused):
        entries(ann, book)


def test_pages(bot: Person, book: str) -> None:
    for number in range(4):
        bot.share(book, f"r{number}@example.org")
    url = f"{FILES}/{book}/permissions?pageSize=3"
    first = bot.call("GET", url)
    second = bot.call("GET", f"{url}&pageToken={first['nextPageToken']}")
    assert (len(first["permissions"]), len(second["permissions"])) == (3, 2)
