"""The token endpoint: signed JWTs of service accounts, refresh tokens, authorization codes, and what goes wrong."""

from __future__ import annotations

import base64
import json
import random
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.sheets_emulator.clock import Clock
from tests.sheets_emulator.errors import UNAUTHENTICATED, ApiError, sheets_error
from tests.sheets_emulator.wire import Request, Response, json_response

TOKEN_URI = "https://oauth2.googleapis.com/token"
LIFETIME = 3600
SKEW = 300
WEEK = 7 * 86_400
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
SHORT_LIVED = (
    "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
    "Check your iat and exp values in the JWT claim."
)
JWT_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class TokenError(Exception):
    """A refused token request: `{"error": ..., "error_description": ...}`."""

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(description)
        self.response = json_response({"error": error, "error_description": description}, status)


@dataclass(frozen=True)
class Token:
    """An access token given out."""

    identity: str
    scopes: frozenset[str]
    expires: float
    client: str


@dataclass
class Grant:
    """A refresh token or authorization code."""

    identity: str
    scopes: frozenset[str]
    made: float
    client: str
    testing: bool = False
    revoked: bool = False


def make_service_account_key(email: str, token_uri: str = TOKEN_URI) -> dict[str, str]:
    """A key file as Google's console gives out, with a fresh RSA key; `OAuth.trust` makes it valid."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    number = hashes.Hash(hashes.SHA1())  # only a name for the key, as Google's ids look
    number.update(pem)
    return {
        "type": "service_account",
        "project_id": "emulator-project",
        "private_key_id": number.finalize().hex(),
        "private_key": pem.decode(),
        "client_email": email,
        "client_id": "100000000000000000001",
        "auth_uri": "https://accounts.google.com/o/oauth2/auth",
        "token_uri": token_uri,
        "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs",
        "client_x509_cert_url": f"https://www.googleapis.com/robot/v1/metadata/x509/{email.replace('@', '%40')}",
        "universe_domain": "googleapis.com",
    }


@dataclass
class OAuth:
    """Accounts, keys and tokens."""

    clock: Clock
    random: random.Random
    opaque_identities: bool = True
    """Whether `Bearer somebody@example.org` is somebody, without any token request."""
    skew: float = 0.0
    """How far Google's clock is ahead of the client's, in seconds."""
    keys: dict[str, tuple[str, rsa.RSAPublicKey]] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    refresh: dict[str, Grant] = field(default_factory=dict)
    codes: dict[str, Grant] = field(default_factory=dict)
    clients: dict[str, str] = field(
        default_factory=lambda: {"emulator-client.apps.googleusercontent.com": "emulator-secret"}
    )
    delegates: set[str] = field(default_factory=set)
    """Service accounts with domain-wide delegation."""

    def now(self) -> float:
        """Google's time."""
        return self.clock.now() + self.skew

    def trust(self, key: dict[str, str]) -> dict[str, str]:
        """Register a service account key."""
        private = serialization.load_pem_private_key(key["private_key"].encode(), None)
        public = private.public_key()
        if not isinstance(public, rsa.RSAPublicKey):
            raise TypeError("service account keys are RSA keys")
        self.keys[key["private_key_id"]] = (key["client_email"], public)
        return key

    def forget(self, key: dict[str, str]) -> None:
        """Delete a key in the console: its signatures are no longer valid."""
        self.keys.pop(key["private_key_id"], None)

    def make_user(self, email: str, scopes: list[str], *, testing: bool = False) -> dict[str, str]:
        """Stored credentials of a signed-in user; `testing`: the refresh token lives seven days."""
        client, secret = next(iter(self.clients.items()))
        token = "1//0" + self._letters(60)
        self.refresh[token] = Grant(email, frozenset(scopes), self.now(), client, testing)
        return {
            "type": "authorized_user",
            "client_id": client,
            "client_secret": secret,
            "refresh_token": token,
            "token_uri": TOKEN_URI,
        }

    def make_code(self, email: str, scopes: list[str]) -> str:
        """An authorization code, as the consent page hands to an installed app."""
        code = "4/0" + self._letters(40)
        self.codes[code] = Grant(email, frozenset(scopes), self.now(), next(iter(self.clients)))
        return code

    def revoke(self, identity: str) -> None:
        """The user takes the app's access away."""
        for grant in self.refresh.values():
            grant.revoked |= grant.identity == identity
        self.tokens = {text: token for text, token in self.tokens.items() if token.identity != identity}

    def issue(self, identity: str, scopes: frozenset[str], client: str = "") -> str:
        """Give out an access token."""
        text = "ya29." + self._letters(80)
        self.tokens[text] = Token(identity, scopes, self.now() + LIFETIME, client)
        return text

    def _letters(self, count: int) -> str:
        return "".join(self.random.choices(LETTERS, k=count))

    def identify(self, request: Request) -> tuple[str, frozenset[str] | None]:
        """Who calls, and with which scopes (None: all); 401 for nobody."""
        kind, _, text = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not text:
            raise unauthenticated()
        token = self.tokens.get(text)
        if token and token.expires > self.now():
            return token.identity, token.scopes
        if token or text.startswith("ya29.") or not self.opaque_identities:
            raise unauthenticated()
        return (text if "@" in text else f"{text}@emulator.test"), None

    def token(self, request: Request) -> Response:
        """POST /token."""
        form = dict(parse_qsl(request.body.decode()))
        grants = {
            JWT_GRANT: self._by_jwt,
            "refresh_token": self._by_refresh,
            "authorization_code": self._by_code,
        }
        kind = form.get("grant_type", "")
        if kind not in grants:
            return TokenError("unsupported_grant_type", f"Invalid grant_type: {kind}").response
        try:
            return json_response(grants[kind](form))
        except TokenError as fault:
            return fault.response

    def _by_jwt(self, form: dict[str, str]) -> dict[str, Any]:
        try:
            head, claims, signed, signature = _split(form.get("assertion", ""))
        except ValueError:
            raise TokenError("invalid_grant", "Bad Request") from None
        issuer = str(claims.get("iss", ""))
        if issuer not in {email for email, _ in self.keys.values()}:
            raise TokenError("invalid_grant", "Invalid grant: account not found")
        self._check_signature(head, issuer, signed, signature)
        self._check_times(claims)
        if not str(claims.get("aud", "")).endswith("/token"):
            raise TokenError("invalid_grant", "Invalid JWT: Failed audience check.")
        subject = claims.get("sub", issuer)
        if subject != issuer and issuer not in self.delegates:
            why = (
                "Client is unauthorized to retrieve access tokens using this method, "
                "or client not authorized for any of the scopes requested."
            )
            raise TokenError("unauthorized_client", why, 401)
        scopes = frozenset(str(claims.get("scope", "")).split())
        if not scopes:
            raise TokenError("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
        return {
            "access_token": self.issue(subject, scopes, issuer),
            "expires_in": LIFETIME - 1,
            "token_type": "Bearer",
        }

    def _check_signature(self, head: dict[str, Any], issuer: str, signed: bytes, signature: bytes) -> None:
        email, public = self.keys.get(str(head.get("kid")), ("", None))
        if head.get("alg") != "RS256" or public is None or email != issuer:
            raise TokenError("invalid_grant", "Invalid JWT Signature.")
        try:
            public.verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            raise TokenError("invalid_grant", "Invalid JWT Signature.") from None

    def _check_times(self, claims: dict[str, Any]) -> None:
        issued, expires = claims.get("iat"), claims.get("exp")
        if not isinstance(issued, int | float) or not isinstance(expires, int | float):
            raise TokenError("invalid_grant", SHORT_LIVED)
        late = expires < self.now() - SKEW or issued > self.now() + SKEW
        if late or expires - issued > LIFETIME or expires <= issued:
            raise TokenError("invalid_grant", SHORT_LIVED)

    def _client(self, form: dict[str, str]) -> str:
        client = form.get("client_id", "")
        if client not in self.clients:
            raise TokenError("invalid_client", "The OAuth client was not found.", 401)
        if self.clients[client] != form.get("client_secret"):
            raise TokenError("invalid_client", "Unauthorized", 401)
        return client

    def _by_refresh(self, form: dict[str, str]) -> dict[str, Any]:
        client = self._client(form)
        grant = self.refresh.get(form.get("refresh_token", ""))
        old = grant is not None and grant.testing and self.now() > grant.made + WEEK
        if grant is None or grant.revoked or grant.client != client or old:
            raise TokenError("invalid_grant", "Token has been expired or revoked.")
        return self._answer(grant)

    def _by_code(self, form: dict[str, str]) -> dict[str, Any]:
        self._client(form)
        grant = self.codes.pop(form.get("code", ""), None)
        if grant is None:
            raise TokenError("invalid_grant", "Malformed auth code.")
        token = "1//0" + self._letters(60)
        self.refresh[token] = grant
        return {**self._answer(grant), "refresh_token": token}

    def _answer(self, grant: Grant) -> dict[str, Any]:
        text = self.issue(grant.identity, grant.scopes, grant.client)
        scope = " ".join(sorted(grant.scopes))
        return {"access_token": text, "expires_in": LIFETIME - 1, "scope": scope, "token_type": "Bearer"}

    def token_info(self, request: Request) -> Response:
        """GET /tokeninfo: what an access token is worth."""
        token = self.tokens.get(request.first("access_token") or "")
        if token is None or token.expires <= self.now():
            return json_response({"error": "invalid_token", "error_description": "Invalid Value"}, 400)
        left = str(int(token.expires - self.now()))
        held = {"scope": " ".join(sorted(token.scopes)), "expires_in": left, "email": token.identity}
        return json_response({"aud": token.client, "azp": token.client, **held, "access_type": "offline"})

    def revoke_token(self, request: Request) -> Response:
        """POST /revoke."""
        text = request.first("token") or dict(parse_qsl(request.body.decode())).get("token", "")
        if text in self.refresh:
            self.refresh[text].revoked = True
        elif self.tokens.pop(text, None) is None:
            return json_response(
                {"error": "invalid_token", "error_description": "Token expired or revoked"}, 400
            )
        return json_response({})


def unauthenticated() -> ApiError:
    return sheets_error(401, UNAUTHENTICATED)


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _split(assertion: str) -> tuple[dict[str, Any], dict[str, Any], bytes, bytes]:
    head, claims, signature = assertion.split(".")
    signed = f"{head}.{claims}".encode()
    return json.loads(_decoded(head)), json.loads(_decoded(claims)), signed, _decoded(signature)
