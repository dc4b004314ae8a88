/**
 * The client library of junctiond: the one signed-in user of this device, for a local app.
 *
 * ```js
 * import { Client } from 'junctiond';
 *
 * const junction = new Client();
 * const token = await junction.token();
 * ```
 *
 * Every duration is in seconds, as on the wire.
 */

/** A token, code or key. It is not printed, logged or serialised; only `reveal()` returns its text. */
export class Secret {
    constructor(text: string | Secret);
    reveal(): string;
}

/** A secret argument. */
export type Text = string | Secret;

/** A value that is known today. A newer daemon may send other strings. */
type Open<Known extends string> = Known | (string & {});

// Errors.

/** `kind` of an error: what failed, as a stable word. */
export type Kind = Open<
    // Errors of the daemon.
    | 'alreadySignedIn'
    | 'invalidCredential'
    | 'notSignedIn'
    | 'reauthenticationRequired'
    | 'sessionTerminated'
    | 'providerUnavailable'
    | 'permissionDenied'
    | 'incompatibleCredential'
    | 'storageUnavailable'
    | 'tokenExpired'
    | 'busy'
    | 'unsupported'
    | 'misconfigured'
    | 'invalidParams'
    | 'methodNotFound'
    | 'parseError'
    | 'invalidRequest'
    | 'internalError'
    // Errors of the library.
    | 'daemonUnreachable'
    | 'connectionLost'
    | 'timedOut'
    | 'cancelled'
    | 'requestTooLarge'
    | 'unreadableAnswer'
    | 'invalidSocketPath'
    | 'localFailure'
>;

/** Every error of this library. A wrong argument, such as a timeout that is no number, is a `TypeError`. */
export class JunctionError extends Error {
    /** Creates an error, for an app's own tests. */
    constructor(kind: Kind, message: string, members?: Partial<Omit<JunctionError, 'kind' | keyof Error>>);
    readonly kind: Kind;
    /** The number of the error on the wire; null if the error does not come from the daemon. */
    readonly code: number | null;
    /** After how many seconds a repetition may succeed. */
    readonly retryAfter: number | null;
    /** What to do about it, for a person. */
    readonly remedy: string;
    /** `alreadySignedIn`: the signed-in user. */
    readonly userId: string | null;
    /** `sessionTerminated`: the reason. */
    readonly termination: Termination | null;
    /** `permissionDenied`: the capability that the caller lacks. */
    readonly capability: Capability | null;
    /** `invalidParams`: the largest accepted value, in seconds. */
    readonly maximum: number | null;
}

// Values.

/** Why the provider ended the session. */
export interface Termination {
    readonly code: string;
    readonly message: string;
    readonly at: Date;
}

/** The lifetime of an access token, without the token. */
export interface TokenLife {
    readonly issuedAt: Date;
    readonly expiresAt: Date;
    /** The number of the token. It increases with each new token. */
    readonly generation: number;
}

/** The state of the renewal scheduler. */
export interface Renewal {
    readonly phase: Open<'none' | 'scheduled' | 'inFlight' | 'waitingForHandler' | 'postponed' | 'backingOff'>;
    /** The time of the next step, if it depends on time. */
    readonly notBefore: Date | null;
    /** The number of consecutive failures. */
    readonly failures: number;
    /** The last error, in one line without secrets. */
    readonly lastError: string | null;
    /** Whether the next renewal needs a session handler and none is registered. */
    readonly needsHandler: boolean;
}

/** A device sign-in that waits for approval on another screen. Only callers with `manage` receive the codes. */
export interface Authorization {
    readonly expiresAt: Date;
    /** The code that the person types. */
    readonly userCode: Secret | null;
    /** The address at which the person types it. */
    readonly verificationUri: string | null;
    /** The same address including the code, for a QR code. */
    readonly verificationUriComplete: Secret | null;
}

/** How the session is stored. */
export interface Storage {
    readonly sealedWith: Open<'host+tpm2' | 'tpm2' | 'host' | 'file'>;
    /** Whether the state in memory is also on disk. */
    readonly durable: boolean;
    readonly status: Open<'ok' | 'locked' | 'damaged' | 'unavailable'>;
    /** Whether the daemon has opened the stored session, or there is none. If false, no token is available. */
    readonly readable: boolean;
    /** The reason if the status is not `ok`: what failed and what to do, for a person. */
    readonly reason: string | null;
}

/** The public state of the session. Never contains a token. */
export class Snapshot {
    private constructor();
    /** Increases with each change of another member; comparable only within one connection. */
    readonly revision: number;
    /** The time of the last change. */
    readonly changedAt: Date;
    readonly state: Open<'notLoggedIn' | 'establishing' | 'established' | 'tokenExpired' | 'terminated'>;
    readonly flags: readonly Open<
        'configured' | 'signedIn' | 'useApiKey' | 'useSignInToken' | 'pendingReauthentication'
    >[];
    readonly provider: Open<'junction' | 'social' | 'sinch' | 'oauth'>;
    /** The `scheme` of the credential with which the user signed in. */
    readonly scheme: Open<Credential['scheme']> | null;
    /** The provider's id of the signed-in user; in the state `terminated`, the user of the ended session. */
    readonly userId: string | null;
    /** The app's id of the user, if the session came from `identify`. */
    readonly externalUserId: string | null;
    readonly teamId: string | null;
    readonly environment: Open<'sandbox' | 'production'> | null;
    readonly region: string | null;
    /** The lifetime of the current access token, if there is one. */
    readonly accessToken: TokenLife | null;
    readonly renewal: Renewal;
    readonly termination: Termination | null;
    readonly authorization: Authorization | null;
    readonly storage: Storage;
    /** Whether a user is signed in, with a valid or an expired token. */
    readonly isSignedIn: boolean;
    /** Whether a user is signed in with a valid token. An API key session has no token that expires. */
    readonly isFresh: boolean;
    /** The snapshot as received, with members that this library does not know, without the codes of an authorization. */
    readonly json: { readonly [member: string]: unknown };
}

/** An access token. Ask for it each time and do not store it. */
export class AccessToken {
    private constructor();
    readonly token: Secret;
    /** The type in an `Authorization` header: `Bearer`. */
    readonly tokenType: string;
    readonly expiresAt: Date;
    readonly userId: string;
    /** The value of an `Authorization` header. It contains the token. */
    readonly authorization: string;
}

/** The result of `identify`. */
export interface IdentifyResult {
    readonly outcome: Open<'unchanged' | 'signedIn' | 'switched' | 'signedOut'>;
    readonly snapshot: Snapshot;
}

/** The action that makes the expected user the signed-in one. */
export interface ReconcileResult {
    /**
     * `reauthenticate`: sign the same user in again with a new credential. `migrate`: sign the same user in with a Sign-In
     * Token, in place of the API key.
     */
    readonly action: Open<'none' | 'signIn' | 'signOut' | 'switch' | 'reauthenticate' | 'migrate'>;
    readonly snapshot: Snapshot;
}

/** The result of a renewal, as far as the caller may see it. */
export interface RenewResult {
    readonly state: Snapshot['state'];
    /** The lifetime of the new access token. */
    readonly accessToken: TokenLife | null;
    /** The whole snapshot, for a caller with the capability `status`; otherwise null. */
    readonly snapshot: Snapshot | null;
}

/** The answer of the provider's API, with any status. */
export class ApiAnswer {
    private constructor();
    /** The HTTP status. */
    readonly status: number;
    /** Header fields, with names in lower case. */
    readonly headers: { readonly [name: string]: string };
    readonly body: Uint8Array;
    /** Whether the status is 200 to 299. */
    readonly ok: boolean;
    /** Returns the body as text. */
    text(): string;
    /** Returns the body parsed as JSON. */
    json(): any;
}

/** The version of the daemon and its start time. */
export interface DaemonInfo {
    readonly name: string;
    readonly version: string;
    readonly protocolVersion: number;
    readonly provider: Snapshot['provider'];
    readonly pid: number;
    readonly startedAt: Date;
    /** The seconds since its start, including suspend. */
    readonly uptime: number;
    /** The keys of changed settings that need a restart of the daemon, such as `junction.authUrl`. */
    readonly pendingRestart: readonly string[];
}

export type Capability = Open<'status' | 'token' | 'api' | 'handle' | 'manage'>;

/** One `[[access]]` entry of the configuration. */
export interface AccessEntry {
    /** Its index among the entries, from 0. */
    readonly index: number;
    readonly unit: string | null;
    /** The numeric ids of its user and its group. */
    readonly user: number | null;
    readonly group: number | null;
}

/** How the daemon sees this program: its identity, its rights and their source. */
export interface Caller {
    readonly user: number;
    readonly process: number;
    /** The systemd unit of the process, if the daemon can determine it. */
    readonly unit: string | null;
    readonly capabilities: readonly Capability[];
    readonly basis: Open<'root' | 'daemonUser' | 'socketGroup' | 'entry' | 'unitUnknown' | 'unmapped' | 'none'>;
    /** The entry that grants or denies the rights, if one does. */
    readonly entry: AccessEntry | null;
}

/** One check of the daemon's diagnosis. */
export interface Check {
    readonly name: string;
    readonly verdict: Open<'ok' | 'note' | 'problem'>;
    readonly detail: string;
    readonly remedy: string | null;
}

// Arguments.

/** A credential for a sign-in, as on the wire. */
export type Credential =
    /** Junction: a Sign-In Token from the app's backend, or the JSON object that the backend answered, as text. */
    | { scheme: 'signInToken'; token: Text }
    /** Junction: the twelve characters of a link code. */
    | { scheme: 'linkCode'; code: Text }
    /** Junction: a team API key, for evaluation only. A missing member has its configured value. */
    | { scheme: 'apiKey'; apiKey?: Text; userId?: string; environment?: string; region?: string }
    /** social.plus: a user id, and an auth token if the network is in secure mode. */
    | { scheme: 'userLogin'; userId: string; displayName?: string; authToken?: Text }
    /** Sinch: a registration token; without one the daemon asks a session handler. */
    | { scheme: 'registration'; userId: string; token?: Text }
    /** Sinch: the legacy signature. */
    | { scheme: 'registrationSignature'; userId: string; signature: Text; sequence: bigint | number | string }
    /** Sinch: the daemon signs with the configured application secret. */
    | { scheme: 'selfSigned'; userId: string }
    /** OAuth: device sign-in (RFC 8628). The result has the codes, in `Snapshot.authorization`. */
    | { scheme: 'device' }
    /** OAuth: the authorization code from the redirect of `authorizationPage`. */
    | { scheme: 'authorizationCode'; code: Text; redirectUri: string; codeVerifier: Text }
    /** OAuth: the refresh token of another program's login, which the daemon takes over. */
    | { scheme: 'refreshToken'; refreshToken: Text }
    /** OAuth: a token of another issuer, to be exchanged (RFC 8693); the type is a URI of its section 3. */
    | { scheme: 'tokenExchange'; subjectToken: Text; subjectTokenType: string };

/** A renewal for which the daemon asks the session handler. */
export interface RenewalRequest {
    readonly renewalId: string;
    readonly reason: Open<'missing' | 'expiring' | 'expired' | 'rejected' | 'requested'>;
    /** The user of the token. */
    readonly userId: string;
    /** The expiry of the current token, if there is one. */
    readonly expiresAt: Date | null;
    /** The daemon waits for the answer until this time. */
    readonly deadline: Date;
}

/** The answer of a session handler. A text is an auth token; null, undefined or an exception means *unable*. */
export type RenewalAnswer =
    | { action: 'renew' }
    | { action: 'renewWithAuthToken'; authToken: Text }
    | { action: 'renewWithSignature'; signature: Text; sequence: bigint | number | string }
    | { action: 'unableToRetrieveAuthToken' }
    | Text
    | null
    | undefined;

export interface ClientOptions {
    /**
     * The daemon's socket. The default is that of `instance`, else `$JUNCTIOND_SOCKET`, else that of `$JUNCTIOND_INSTANCE`, else
     * that of the instance `junctiond`.
     */
    socket?: string;
    /**
     * The name of one of several installations on this machine. Its socket is `$XDG_RUNTIME_DIR/junctiond/NAME.sock` if that
     * exists, else `/run/junctiond/NAME.sock`.
     */
    instance?: string;
    /** The default timeout of a call in seconds: 90; `Infinity` means none. */
    timeout?: number;
}

export interface CallOptions {
    /** How many seconds the call may take, its repetitions included. With 0 the call is not sent. */
    timeout?: number;
    /** Ends the wait with the kind `cancelled`. The daemon still completes a request that was sent. */
    signal?: AbortSignal;
}

/** A call that waits as long as the daemon says (`retryAfter`) and is repeated, within so many seconds. */
export interface PatientOptions extends CallOptions {
    patience?: number;
}

export interface RequestOptions extends CallOptions {
    query?: { [name: string]: string };
    headers?: { [name: string]: string };
    body?: string | Uint8Array;
}

export type Goal = 'signed-in' | 'signed-out' | 'fresh' | ((snapshot: Snapshot) => boolean);

// The client.

/**
 * The session of this device. It connects with the first call, and uses one connection for all calls. The connection stays open
 * until `close`, also if the program drops the object.
 */
export class Client {
    constructor(options?: ClientOptions);

    /** Closes the connection. Calls in progress reject with `cancelled`. Loops end with their own signal. */
    close(): void;

    /** Returns the current state of the session. Needs `status`. */
    status(options?: CallOptions): Promise<Snapshot>;

    /**
     * Returns the current snapshot first, then every change, across restarts of the daemon. A slow loop gets the newest
     * snapshot. It ends with an error that a new connection would not change. A program that calls `next` itself has to call
     * `return` at the end, which closes the connection; `for await` does so. Needs `status`.
     */
    watch(options?: { signal?: AbortSignal }): AsyncIterableIterator<Snapshot>;

    /**
     * The same with a snapshot only for each change of `state`, not for a renewal or a restart. A switch of users is not always a
     * change of the state: an app that shows who is signed in uses `watch`.
     */
    watchState(options?: { signal?: AbortSignal }): AsyncIterableIterator<Snapshot>;

    /**
     * Waits until the session reaches the goal. Without a timeout it waits for ever. With `'fresh'` it rejects with
     * `sessionTerminated`, `storageUnavailable` or `reauthenticationRequired` if waiting cannot help. Needs `status`.
     */
    wait(goal: Goal, options?: CallOptions): Promise<Snapshot>;

    /** Signs a user in. Needs `manage`. */
    signIn(credential: Credential, options?: CallOptions): Promise<Snapshot>;

    /** Signs the user out, from any state and without the network. Needs `manage`. */
    signOut(options?: CallOptions): Promise<Snapshot>;

    /**
     * Signs in the user with this id of the app; null signs out. Calls `credential` only if the daemon needs one. An exception
     * of the callback rejects the call, and nothing changes. The signal of the callback is aborted when the call has ended.
     * Needs `manage`.
     */
    identify(
        externalUserId: string | null,
        credential?: (
            externalUserId: string,
            context: { signal: AbortSignal },
        ) => Credential | null | undefined | Promise<Credential | null | undefined>,
        options?: CallOptions,
    ): Promise<IdentifyResult>;

    /** Compares the signed-in user with the expected one, and changes nothing; null expects no user. Needs `status`. */
    reconcile(userId: string | null, options?: CallOptions): Promise<ReconcileResult>;

    /** OAuth: returns the address of the sign-in page, to be opened in a browser (RFC 8252). Needs `manage`. */
    authorizationPage(
        page: { redirectUri: string; state: string; codeChallenge: string },
        options?: CallOptions,
    ): Promise<string>;

    /** Returns an access token that is valid for at least `minimumValidity` seconds. Needs `token`. */
    token(options?: PatientOptions & { minimumValidity?: number }): Promise<AccessToken>;

    /** Renews the access token now, despite a postponement. Needs `token`. */
    renew(options?: PatientOptions): Promise<RenewResult>;

    /** Calls the provider's API as the signed-in user. A status of 400 or more is an answer. Needs `api`. */
    request(method: string, path: string, options?: RequestOptions): Promise<ApiAnswer>;

    /**
     * Answers the daemon's questions for tokens until the signal is aborted, across restarts of the daemon. An answer in
     * progress is then completed. Rejects with an error that a new connection would not change. The signal of `decide` is
     * aborted when its answer is no longer needed. Needs `handle`.
     */
    handleRenewals(
        decide: (request: RenewalRequest, context: { signal: AbortSignal }) => RenewalAnswer | Promise<RenewalAnswer>,
        options?: {
            signal?: AbortSignal;
            /** Called for each registration with a daemon. An exception ends the loop, which rejects with it. */
            onRegistered?: () => void;
            /** Receives what `decide` threw, or why its answer cannot be sent. The default is `process.emitWarning`. */
            onError?: (error: unknown, request: RenewalRequest) => void;
        },
    ): Promise<void>;

    /** Returns the version of the daemon and its start time. Needs `status`. */
    info(options?: CallOptions): Promise<DaemonInfo>;

    /** Returns how the daemon sees this program. Needs no capability. */
    whoami(options?: CallOptions): Promise<Caller>;

    /** Makes the daemon read its configuration again, and returns the settings that need a restart. Needs `manage`. */
    reload(options?: CallOptions): Promise<string[]>;

    /** Returns the daemon's counters in Prometheus text format. Needs `status`. */
    metrics(options?: CallOptions): Promise<string>;

    /** Checks the installation. Needs `manage`. */
    diagnose(options?: CallOptions): Promise<Check[]>;
}
