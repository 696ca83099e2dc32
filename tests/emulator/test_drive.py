"""Drive: files, folders, shared drives, queries, changes, and who sees what."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.sheets_emulator import Emulator, Person, Refused, VirtualClock

FILES = "https://www.googleapis.com/drive/v3/files"
SHEET = "application/vnd.google-apps.spreadsheet"
SERVICE = "bot@project.iam.gserviceaccount.com"


def names(person: Person, q: str = "", more: str = "") -> list[str]:
    found = person.call("GET", f"{FILES}?q={quote(q)}&orderBy=name&fields=files(name)&{more}")["files"]
    return [file["name"] for file in found]


def reason(refused: Refused) -> str:
    return str(refused.body["error"]["errors"][0]["reason"])


def make(person: Person, **body: Any) -> str:
    made = person.call("POST", f"{FILES}?supportsAllDrives=true", {"mimeType": SHEET, **body})
    return str(made["id"])


def test_a_new_file_answers_little_unless_asked(bot: Person) -> None:
    made = bot.call("POST", FILES, {"name": "n", "mimeType": SHEET})
    assert set(made) == {"kind", "id", "name", "mimeType"}
    asked = bot.call(
        "GET", f"{FILES}/{made['id']}?fields=version,trashed,ownedByMe,owners/emailAddress,parents"
    )
    assert asked == {
        "version": "1",
        "trashed": False,
        "ownedByMe": True,
        "owners": [{"emailAddress": bot.identity}],
        "parents": asked["parents"],
    }


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("", ["alpha", "beta's", "gamma", "inner"]),
        ("name = 'alpha'", ["alpha"]),
        ('name = "alpha"', ["alpha"]),
        (r"name = 'beta\'s'", ["beta's"]),
        ("name != 'alpha' and mimeType = 'application/vnd.google-apps.spreadsheet'", ["beta's", "gamma"]),
        ("name contains 'al' or name contains 'gam'", ["alpha", "gamma"]),
        ("not name contains 'a' and trashed = false", ["beta's", "inner"]),
        ("trashed=true", ["gamma"]),
        ("'FOLDER' in parents", ["alpha"]),
        ("appProperties has { key='study' and value='s1' }", ["alpha"]),
        ("appProperties has {key='study' and value='s2'}", []),
        ("modifiedTime > '2026-01-05T08:00:30Z'", ["beta's", "gamma"]),
        ("modifiedTime <= '2026-01-05T08:00:30' and trashed = false", ["alpha", "inner"]),
        ("'me' in owners and (starred = true or name = 'alpha')", ["alpha"]),
        ("'bot@example.org' in writers and name='alpha'", ["alpha"]),
        ("sharedWithMe = true", []),
    ],
)
def test_queries(emulator: Emulator, bot: Person, q: str, found: list[str]) -> None:
    folder = bot.new_folder("inner")
    make(bot, name="alpha", parents=[folder], appProperties={"study": "s1"})
    emulator.clock.advance(60)
    make(bot, name="beta's")
    bot.trash(make(bot, name="gamma"))
    assert names(bot, q.replace("FOLDER", folder)) == found


@pytest.mark.parametrize(
    "q",
    [
        "name",
        "name = ",
        "name = alpha",
        "colour = 'x'",
        "name > 'x'",
        "(name = 'x'",
        "'a' in",
        "name = 'x' xor 1",
        "trashed = 'true'",
    ],
)
def test_queries_that_are_refused(bot: Person, q: str) -> None:
    with pytest.raises(Refused, match="Invalid Value"):
        names(bot, q)


def test_a_long_listing_comes_in_pages_of_one_moment(bot: Person) -> None:
    for number in range(5):
        make(bot, name=str(number))
    url = f"{FILES}?pageSize=2&orderBy=name"
    first = bot.call("GET", url)
    make(bot, name="00")
    second = bot.call("GET", f"{url}&pageToken={quote(first['nextPageToken'])}")
    third = bot.call("GET", f"{url}&pageToken={quote(second['nextPageToken'])}")
    assert [file["name"] for page in (first, second, third) for file in page["files"]] == list("01234")
    assert "nextPageToken" not in third
    with pytest.raises(Refused):
        bot.call("GET", f"{url}&pageToken=made-up")


def test_strangers_find_nothing(bot: Person, ann: Person, book: str) -> None:
    with pytest.raises(Refused) as drive:
        ann.call("GET", f"{FILES}/{book}")
    assert (drive.value.status, reason(drive.value)) == (404, "notFound")
    with pytest.raises(Refused, match="The caller does not have permission") as sheets:
        ann.look(book)
    assert sheets.value.status == 403
    with pytest.raises(Refused, match=r"Requested entity was not found\."):
        ann.look("1" + "x" * 43)
    assert names(ann) == []


def test_readers_read_and_writers_write(bot: Person, ann: Person, book: str) -> None:
    bot.share(book, ann.identity, "reader")
    assert ann.look(book)["properties"]["title"] == "Study"
    with pytest.raises(Refused) as refused:
        ann.type(book, "A1", 1)
    assert refused.value.status == 403
    bot.share(book, ann.identity, "writer")
    ann.type(book, "A1", 1)
    assert names(ann, "sharedWithMe = true") == ["Study"]


def test_a_folder_shares_what_is_in_it(bot: Person, ann: Person) -> None:
    folder = bot.new_folder("Study")
    bot.share(folder, ann.identity)
    ann.type(bot.new_spreadsheet("Inside", folder), "A1", 1)


def test_trash_rename_and_delete(bot: Person, ann: Person, book: str) -> None:
    bot.share(book, ann.identity)
    bot.call("PATCH", f"{FILES}/{book}", {"name": "Renamed", "appProperties": {"k": "v"}})
    assert bot.look(book)["properties"]["title"] == "Renamed"
    for attempt in (ann.trash, ann.delete):
        with pytest.raises(Refused) as fault:
            attempt(book)
        assert reason(fault.value) == "insufficientFilePermissions"
    bot.trash(book)
    assert names(bot, "trashed = false") == []
    bot.delete(book)
    with pytest.raises(Refused):
        bot.look(book)


def test_a_trashed_folder_takes_its_files_along(bot: Person) -> None:
    folder = bot.new_folder("Study")
    book = bot.new_spreadsheet("Inside", folder)
    bot.trash(folder)
    assert names(bot, "trashed = true") == ["Inside", "Study"]
    found = bot.call("GET", f"{FILES}/{book}?fields=trashed,explicitlyTrashed")
    assert found == {"trashed": True, "explicitlyTrashed": False}


def test_writes_move_time_and_version_sharing_only_the_version(bot: Person, book: str) -> None:
    def mark() -> tuple[str, int]:
        found = bot.call("GET", f"{FILES}/{book}?fields=modifiedTime,version")
        return found["modifiedTime"], int(found["version"])

    first = mark()
    bot.read(book, "A1")
    assert mark() == first
    bot.share(book, "x@example.org")
    shared = mark()
    assert (shared[0], shared[1] > first[1]) == (first[0], True)
    bot.type(book, "A1", 1)
    written = mark()
    assert written[0] > shared[0]
    assert written[1] > shared[1]


def test_moving_between_folders(bot: Person, book: str) -> None:
    one, two = bot.new_folder("one"), bot.new_folder("two")
    bot.call("PATCH", f"{FILES}/{book}?addParents={one}&removeParents=root", {})
    with pytest.raises(Refused, match="Increasing the number of parents is not allowed"):
        bot.call("PATCH", f"{FILES}/{book}?addParents={two}", {})
    bot.call("PATCH", f"{FILES}/{book}?addParents={two}&removeParents={one}", {})
    assert names(bot, f"'{two}' in parents") == ["Study"]


def test_a_copy_keeps_the_content(bot: Person, book: str) -> None:
    bot.type(book, "A1", "x")
    made = bot.call("POST", f"{FILES}/{book}/copy", {"name": None})
    assert made["name"] == "Copy of Study"
    assert bot.read(made["id"], "A1") == [["x"]]
    bot.type(made["id"], "A1", "y")
    assert bot.read(book, "A1") == [["x"]]


def test_shared_drives_need_asking_for(emulator: Emulator, bot: Person, ann: Person) -> None:
    drive = emulator.shared_drive("Lab", {bot.identity: "organizer"})
    book = bot.new_spreadsheet("In the lab", drive)
    with pytest.raises(Refused):
        bot.call("GET", f"{FILES}/{book}")
    assert bot.call("GET", f"{FILES}/{book}?supportsAllDrives=true&fields=driveId")["driveId"] == drive
    assert names(bot) == []
    flags = "includeItemsFromAllDrives=true&supportsAllDrives=true"
    assert names(bot, "", flags) == ["In the lab"]
    assert names(bot, f"'{drive}' in parents", f"{flags}&corpora=drive&driveId={drive}") == ["In the lab"]
    with pytest.raises(Refused):
        names(bot, "", "includeItemsFromAllDrives=true")
    with pytest.raises(Refused):
        ann.look(book)
    bot.share(book, ann.identity)
    ann.type(book, "A1", 1)
    drives = bot.call("GET", "https://www.googleapis.com/drive/v3/drives")["drives"]
    assert drives == [{"kind": "drive#drive", "id": drive, "name": "Lab"}]


def test_service_accounts_own_nothing(emulator: Emulator, ann: Person) -> None:
    service = emulator.person(SERVICE)
    folder = ann.new_folder("Study")
    ann.share(folder, SERVICE)
    for parents in ([], [folder]):
        with pytest.raises(Refused, match="The user's Drive storage quota has been exceeded") as refused:
            make(service, name="x", **({"parents": parents} if parents else {}))
        assert (refused.value.status, reason(refused.value)) == (403, "storageQuotaExceeded")
        assert refused.value.body["error"]["errors"][0]["domain"] == "usageLimits"
    with pytest.raises(Refused, match="The caller does not have permission"):
        service.call("POST", "https://sheets.googleapis.com/v4/spreadsheets", {"properties": {"title": "x"}})
    drive = emulator.shared_drive("Lab", {SERVICE: "fileOrganizer"})
    service.type(make(service, name="x", parents=[drive]), "A1", 1)


def test_service_accounts_before_2025() -> None:
    emulator = Emulator(service_accounts_have_storage=True)
    assert make(emulator.person(SERVICE), name="x")


def test_changes_since_a_token(bot: Person, book: str) -> None:
    root = "https://www.googleapis.com/drive/v3/changes"
    token = bot.call("GET", f"{root}/startPageToken")["startPageToken"]
    assert bot.call("GET", f"{root}?pageToken={token}")["changes"] == []
    bot.type(book, "A1", 1)
    bot.type(book, "A1", 2)
    other = bot.new_spreadsheet("Other")
    bot.delete(other)
    answer = bot.call("GET", f"{root}?pageToken={token}")
    assert [(change["fileId"], change["removed"]) for change in answer["changes"]] == [
        (book, False),
        (other, True),
    ]
    assert bot.call("GET", f"{root}?pageToken={answer['newStartPageToken']}")["changes"] == []


def test_listings_can_lag(emulator: Emulator, bot: Person, book: str) -> None:
    emulator.clock.advance(600)
    emulator.drive_lag = 120
    bot.type(book, "A1", 1)
    recent = "modifiedTime > '2026-01-05T08:05:00Z'"
    assert names(bot, recent) == []
    emulator.clock.advance(121)
    assert names(bot, recent) == ["Study"]


def test_about_needs_fields(bot: Person) -> None:
    url = "https://www.googleapis.com/drive/v3/about"
    with pytest.raises(Refused, match="The 'fields' parameter is required"):
        bot.call("GET", url)
    assert bot.call("GET", f"{url}?fields=user(emailAddress,me)")["user"] == {
        "emailAddress": bot.identity,
        "me": True,
    }


def test_export_is_the_first_tab_as_csv(emulator: Emulator, bot: Person, book: str) -> None:
    bot.paste(book, "A1", [["a,b", 2], ["c"]])
    headers = {"Authorization": f"Bearer {bot.identity}"}
    answer = emulator.handle("GET", f"{FILES}/{book}/export?mimeType=text/csv", headers)
    assert (answer.body, answer.content_type) == (b'"a,b",2\r\nc,', "text/csv")


def test_property_limits(bot: Person) -> None:
    with pytest.raises(Refused) as refused:
        make(bot, name="x", appProperties={"k": "v" * 124})
    assert refused.value.status == 403


def test_two_worlds_with_one_seed_are_alike() -> None:
    made = [Emulator(VirtualClock(0), seed=3).person("a@b.c").new_spreadsheet("x") for _ in range(2)]
    assert made[0] == made[1]
