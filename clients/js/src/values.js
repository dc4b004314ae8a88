// The values that the daemon returns. index.d.ts describes their members.
import {
    boolean,
    isObject,
    number,
    optional,
    record,
    required,
    seconds,
    termination,
    text,
    texts,
    time,
    words,
} from './members.js';
import { Secret } from './secret.js';

const secret = (value) => (typeof value === 'string' ? new Secret(value) : undefined);

const tokenLife = record('accessToken', {
    issuedAt: required(time),
    expiresAt: required(time),
    generation: required(number),
});

const renewal = record('renewal', {
    phase: required(text),
    notBefore: optional(time),
    failures: optional(number, 0),
    lastError: optional(text),
    needsHandler: optional(boolean, false),
});

const authorization = record('authorization', {
    expiresAt: required(time),
    userCode: optional(secret),
    verificationUri: optional(text),
    verificationUriComplete: optional(secret),
});

const storageMembers = record('storage', {
    sealedWith: required(text),
    durable: required(boolean),
    status: required(text),
    readable: optional(boolean),
    reason: optional(text),
});

function storage(value) {
    const found = storageMembers(value);
    found.readable ??= found.status === 'ok';
    return found;
}

const snapshotMembers = record('snapshot', {
    revision: required(number),
    changedAt: required(time),
    state: required(text),
    flags: optional(words, []),
    provider: required(text),
    scheme: optional(text),
    userId: optional(text),
    externalUserId: optional(text),
    teamId: optional(text),
    environment: optional(text),
    region: optional(text),
    accessToken: optional(tokenLife),
    renewal: optional(renewal, renewal({ phase: 'none' })),
    termination: optional(termination),
    authorization: optional(authorization),
    storage: optional(storage, storage({ sealedWith: '', durable: true, status: 'ok' })),
});

/** The public state of the session. Never contains a token. */
export class Snapshot {
    constructor(members, json) {
        Object.assign(this, members);
        Object.defineProperty(this, 'json', { value: json });
    }

    get isSignedIn() {
        return this.flags.includes('signedIn');
    }

    get isFresh() {
        // An API key session has no token that expires.
        const isAlive = this.accessToken === null || this.accessToken.expiresAt.getTime() > Date.now();
        return this.state === 'established' && this.storage.readable && isAlive;
    }
}

export function snapshot(value) {
    return new Snapshot(snapshotMembers(value), withoutCodes(value));
}

function withoutCodes(json) {
    if (!isObject(json.authorization)) return json;
    const { userCode, verificationUriComplete, ...shown } = json.authorization;
    return { ...json, authorization: shown };
}

const accessTokenMembers = record('result', {
    accessToken: required(secret),
    tokenType: required(text),
    expiresAt: required(time),
    userId: required(text),
});

/** An access token. Ask for it each time and do not store it. */
export class AccessToken {
    constructor({ accessToken, tokenType, expiresAt, userId }) {
        Object.assign(this, { token: accessToken, tokenType, expiresAt, userId });
    }

    // On the prototype, so that printing or serialising the object does not call it.
    get authorization() {
        return `${this.tokenType} ${this.token.reveal()}`;
    }
}

export const accessToken = (value) => new AccessToken(accessTokenMembers(value));

export const identifyResult = record('result', { outcome: required(text), snapshot: required(snapshot) });
export const reconcileResult = record('result', { action: required(text), snapshot: required(snapshot) });

const renewMembers = record('result', { state: required(text), accessToken: optional(tokenLife) });

export function renewResult(value) {
    const members = renewMembers(value);
    return { ...members, snapshot: Object.hasOwn(value, 'revision') ? snapshot(value) : null };
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const base64 = (value) =>
    typeof value === 'string' && BASE64.test(value) ? Buffer.from(value, 'base64') : undefined;

const apiMembers = record('result', {
    status: required(number),
    headers: optional(texts, {}),
    body: optional(text),
    bodyBase64: optional(base64),
});

/** The answer of the provider's API, with any status. */
export class ApiAnswer {
    #body;

    constructor({ status, headers, body, bodyBase64 }) {
        this.status = status;
        this.headers = headers;
        this.#body = body !== null ? Buffer.from(body) : (bodyBase64 ?? Buffer.alloc(0));
    }

    get ok() {
        return this.status >= 200 && this.status < 300;
    }

    get body() {
        return this.#body;
    }

    text() {
        return this.#body.toString();
    }

    json() {
        return JSON.parse(this.text());
    }
}

export const apiAnswer = (value) => new ApiAnswer(apiMembers(value));

export const daemonInfo = record('result', {
    name: required(text),
    version: required(text),
    protocolVersion: required(number),
    provider: required(text),
    pid: required(number),
    startedAt: required(time),
    uptime: required(seconds),
    pendingRestart: optional(words, []),
});

const accessEntry = record('entry', {
    index: required(number),
    unit: optional(text),
    user: optional(number),
    group: optional(number),
});

export const caller = record('result', {
    user: required(number),
    process: required(number),
    unit: optional(text),
    capabilities: required(words),
    basis: required(text),
    entry: optional(accessEntry),
});

const check = record('checks', {
    name: required(text),
    verdict: required(text),
    detail: required(text),
    remedy: optional(text),
});
const checks = (value) => (Array.isArray(value) ? value.map(check) : undefined);

export const diagnosis = record('result', { checks: required(checks) });
export const metricsText = record('result', { text: required(text) });
export const signInPage = record('result', { url: required(text) });
export const reloaded = record('result', { pendingRestart: required(words) });

export const renewalRequest = record('params', {
    renewalId: required(text),
    reason: required(text),
    userId: required(text),
    expiresAt: optional(time),
    deadline: required(time),
});

export const authenticateRequest = record('params', { externalUserId: required(text) });
