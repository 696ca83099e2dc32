"""Checks every body and query against the discovery schema and refuses as Google's JSON reader does."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tests.sheets_emulator import discovery
from tests.sheets_emulator.colours import mirror_colours, stored_colour
from tests.sheets_emulator.discovery import Method, Service
from tests.sheets_emulator.errors import ApiError, drive_error, sheets_error
from tests.sheets_emulator.wire import Request

READ_ONLY = frozenset({
    ("CellData", "effectiveFormat"), ("CellData", "effectiveValue"), ("CellData", "formattedValue"),
    ("CellData", "hyperlink"), ("CellData", "dataSourceFormula"), ("ExtendedValue", "errorValue"),
    ("Spreadsheet", "spreadsheetId"), ("Spreadsheet", "spreadsheetUrl"), ("BandedRange", "bandedRangeReference"),
    ("DimensionProperties", "hiddenByFilter"), ("SheetProperties", "dataSourceSheetProperties"),
    ("File", "kind"), ("File", "version"), ("File", "owners"), ("File", "permissions"), ("File", "size"),
    ("File", "driveId"), ("File", "webViewLink"), ("File", "shared"), ("File", "ownedByMe"),
    ("File", "capabilities"), ("File", "permissionIds"), ("File", "lastModifyingUser"),
    ("Permission", "kind"), ("Permission", "permissionDetails"), ("Permission", "deleted"),
})  # fmt: skip
"""Refused in requests. `requestingUserCanEdit` is read-only too, but the real API was recorded ignoring it."""

IGNORED = frozenset(
    {("ProtectedRange", "requestingUserCanEdit"), ("DeveloperMetadataLocation", "locationType")}
)

TOLERATED = frozenset({("Permission", "withLink")})
"""Names of Drive v2 that gspread still sends, and that Drive v3 evidently overlooks."""

KEEPS_ZERO = frozenset({"ExtendedValue", "SheetProperties", "TextFormat", "CellFormat", "DeveloperMetadataLocation",
                        "File", "Permission", "Drive", "TextFormatRun", "Spreadsheet"})  # fmt: skip
ZERO_FIELDS = frozenset(
    {"startRowIndex", "endRowIndex", "startColumnIndex", "endColumnIndex", "startIndex", "endIndex"}
)


@cache
def snake(name: str) -> str:
    """Spell a field as error paths do: `updateCells` is `update_cells`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


@dataclass
class Checker:
    """Walks one body; collects violations as (field path, message)."""

    service: Service
    faults: list[tuple[str, str]] = field(default_factory=list)
    read_only: list[str] = field(default_factory=list)

    def clean(self, value: Any, schema: dict[str, Any], path: str) -> Any:
        """Check one value; returns it without nulls and defaults, colours as stored."""
        if "$ref" in schema:
            return self.message(value, schema["$ref"], path)
        kind = schema.get("type")
        if kind == "array":
            return self.array(value, schema, path)
        if kind == "object":
            return self.mapping(value, schema, path)
        if kind == "any":
            return value
        return self.scalar(value, schema, path)

    def fault(self, path: str, message: str) -> None:
        self.faults.append((path, message))

    def message(self, value: Any, name: str, path: str) -> Any:
        if isinstance(value, list):
            parent, _, last = path.rpartition(".")
            self.unknown(last or path, parent, "Proto field is not repeating, cannot start list.")
            return {}
        if not isinstance(value, dict):
            self.invalid(path, self.type_name(name), value)
            return {}
        properties: dict[str, Any] = discovery.schemas(self.service)[name].get("properties", {})
        made: dict[str, Any] = {}
        for key, given in value.items():
            if (name, key) in TOLERATED:
                continue
            if key not in properties:
                self.unknown(key, path, "Cannot find field.")
            elif given is not None:
                self.field(made, name, key, given, properties[key], path)
        self.check_oneof(name, made, path)
        if name == "Color":
            return stored_colour(made)
        mirror_colours(made, properties)
        return made

    def field(
        self, made: dict[str, Any], name: str, key: str, given: Any, schema: dict[str, Any], path: str
    ) -> None:
        if (name, key) in IGNORED:
            return
        if (name, key) in READ_ONLY:
            self.read_only.append(key)
            return
        cleaned = self.clean(
            given, {**schema, "_owner": f"{name}.{key}"}, f"{path}.{snake(key)}" if path else snake(key)
        )
        is_default = (
            cleaned is False or cleaned == [] or (cleaned == 0 and not isinstance(cleaned, dict | str))
        )
        if is_default and name not in KEEPS_ZERO and key not in ZERO_FIELDS:
            return
        made[key] = cleaned

    def check_oneof(self, name: str, made: dict[str, Any], path: str) -> None:
        """A union holds one member only."""
        if name in ("Request", "ExtendedValue", "DataFilter") and len(made) > 1:
            kind = {"Request": "kind", "ExtendedValue": "value", "DataFilter": "filter"}[name]
            second = list(made)[1]
            text = f"Invalid value at '{path}' (oneof), oneof field '{kind}' is already set. Cannot set '{second}'"
            self.fault(path, text)

    def array(self, value: Any, schema: dict[str, Any], path: str) -> list[Any]:
        items = schema["items"]
        if not isinstance(value, list):
            self.invalid(path, self.item_type(items), value)
            return []
        found = []
        for position, item in enumerate(value):
            if item is None and items.get("type") != "any":
                self.invalid(f"{path}[{position}]", self.item_type(items), item)
                continue
            inner = {**items, "_owner": schema.get("_owner", "")}
            found.append(self.clean(item, inner, f"{path}[{position}]"))
        return found

    def mapping(self, value: Any, schema: dict[str, Any], path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.invalid(path, "object", value)
            return {}
        inner = schema.get("additionalProperties", {"type": "any"})
        return {
            key: None if item is None else self.clean(item, inner, f"{path}[{key}]")
            for key, item in value.items()
        }

    def scalar(self, value: Any, schema: dict[str, Any], path: str) -> Any:
        kind = schema.get("type", "string")
        if isinstance(value, dict | list):
            parent, _, last = path.rpartition(".")
            what = "list" if isinstance(value, list) else "object"
            problem = "repeating" if what == "list" else "a message"
            self.unknown(last, parent, f"Proto field is not {problem}, cannot start {what}.")
            return None
        try:
            return SCALARS[kind](value, schema)
        except (TypeError, ValueError):
            name = (
                self.enum_name(schema) if "enum" in schema else f"TYPE_{schema.get('format', kind).upper()}"
            )
            self.invalid(path, {"TYPE_BOOLEAN": "TYPE_BOOL"}.get(name, name), value)
            return None

    def unknown(self, key: str, path: str, why: str) -> None:
        place = f" at '{path}'" if path else ""
        self.fault(path, f'Invalid JSON payload received. Unknown name "{key}"{place}: {why}')

    def invalid(self, path: str, type_name: str, value: Any) -> None:
        self.fault(path, f"Invalid value at '{path}' ({type_name}), {json.dumps(value, ensure_ascii=False)}")

    def item_type(self, items: dict[str, Any]) -> str:
        if items.get("type") == "array":
            return "type.googleapis.com/google.protobuf.ListValue"
        return self.type_name(items["$ref"]) if "$ref" in items else f"TYPE_{str(items.get('type')).upper()}"

    def type_name(self, name: str) -> str:
        package = "google.apps.sheets.v4" if self.service == "sheets" else "google.apps.drive.v3"
        return f"type.googleapis.com/{package}.{name}"

    def enum_name(self, schema: dict[str, Any]) -> str:
        owner, _, key = str(schema.get("_owner", "")).partition(".")
        return self.type_name(f"{owner}.{key[:1].upper()}{key[1:]}" if key else owner)


def _string(value: Any, schema: dict[str, Any]) -> str:
    if "enum" in schema and value not in schema["enum"]:
        raise ValueError(value)
    if schema.get("format") in ("int64", "uint64"):
        return str(int(value))
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _integer(value: Any, schema: dict[str, Any]) -> int:
    del schema
    if isinstance(value, bool):
        raise TypeError(value)
    whole = int(value)
    if whole != float(value) or not -(2**31) <= whole < 2**31:
        raise ValueError(value)
    return whole


def _number(value: Any, schema: dict[str, Any]) -> float:
    del schema
    if isinstance(value, bool):
        raise TypeError(value)
    return value if isinstance(value, int) else float(value)


def _boolean(value: Any, schema: dict[str, Any]) -> bool:
    del schema
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise TypeError(value)


SCALARS = {"string": _string, "integer": _integer, "number": _number, "boolean": _boolean}


def _refuse(checker: Checker) -> None:
    if checker.faults:
        lines = [
            {"field": path, "description": text} if path else {"description": text}
            for path, text in checker.faults
        ]
        details = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": lines}]
        raise sheets_error(400, "\n".join(text for _, text in checker.faults), details)
    if checker.read_only and checker.service == "drive":
        message = "The resource body includes fields which are not directly writable."
        raise drive_error(403, "fieldNotWritable", message)
    if checker.read_only:
        raise sheets_error(
            400, f"Field '{checker.read_only[0]}' is read-only and cannot be set in a request."
        )


def check_answer(service: Service, name: str, value: Any) -> None:
    """Hold an answer to the schema too: a slip of the emulator itself is a failed assertion."""
    checker = Checker(service)
    checker.message(value, name, "")
    if checker.faults:
        raise AssertionError(f"{name}: " + "; ".join(text for _, text in checker.faults[:5]))


BODY_FIELD = {"sheets.spreadsheets.values.update": "data", "sheets.spreadsheets.values.append": "data",
              "sheets.spreadsheets.create": "spreadsheet"}  # fmt: skip
"""Under which name a body that is only part of the request message appears in error paths."""


def check_body(method: Method, request: Request) -> Any:
    """The checked and cleaned body of a call; {} where there is none."""
    if method.request is None or not request.body.strip():
        return {}
    try:
        body = json.loads(request.body)
    except ValueError as fault:
        raise sheets_error(400, f"Invalid JSON payload received. {fault}") from None
    checker = Checker(method.service)
    cleaned = checker.message(body, method.request, BODY_FIELD.get(method.id, ""))
    _refuse(checker)
    return cleaned


def check_query(method: Method, request: Request) -> None:
    """Check names and values of query parameters; Drive ignores unknown ones (recorded), Sheets refuses them."""
    checker = Checker(method.service)
    for name, value in request.query:
        schema = method.parameters.get(name)
        if schema is None or schema.get("location") == "path":
            if method.service == "sheets":
                why = f"Cannot bind query parameter. Field '{name}' could not be found in request message."
                checker.unknown(name, "", why)
        elif not _fits(value, schema):
            checker.invalid(snake(name), _query_type(schema), value)
    for name, schema in method.parameters.items():
        if schema.get("required") and schema["location"] == "query" and request.first(name) is None:
            raise _required(method, name)
    if method.service == "drive" and checker.faults:
        raise drive_error(400, "invalidParameter", checker.faults[0][1])
    _refuse(checker)


def _required(method: Method, name: str) -> ApiError:
    if method.service == "drive":
        return drive_error(400, "required", f"Required parameter: {name}", location=("parameter", name))
    return sheets_error(400, f"'{name}' is required but not specified")


def _query_type(schema: dict[str, Any]) -> str:
    return {"boolean": "TYPE_BOOL", "integer": "TYPE_INT32"}.get(schema["type"], "TYPE_ENUM")


def _fits(value: str, schema: dict[str, Any]) -> bool:
    if schema["type"] == "boolean":
        return value.lower() in ("true", "false", "1", "0")
    if schema["type"] == "integer":
        return value.lstrip("-").isdigit()
    return value in schema["enum"] if "enum" in schema and value else True


def flag(request: Request, name: str, *, default: bool = False) -> bool:
    """A boolean query parameter."""
    value = request.first(name)
    return default if value is None else value.lower() in ("true", "1")
