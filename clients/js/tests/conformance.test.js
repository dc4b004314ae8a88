// Plays the client's side of each transcript of clients/conformance with this library.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AccessToken, ApiAnswer, Client, JunctionError, Secret } from 'junctiond';

const SUITE = fileURLToPath(new URL('../../conformance/', import.meta.url));
const TRANSCRIPTS = readdirSync(join(SUITE, 'transcripts')).filter((name) => name.endsWith('.json'));

class Raised extends Error {}

// What the library says, in the words of the wire.

function wire(value) {
    if (value instanceof Secret) return value.reveal();
    if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
    if (value instanceof AccessToken) return wire({ ...value, accessToken: value.token });
    if (value instanceof ApiAnswer) {
        const { status, headers, body } = value;
        return { status, headers, body: Buffer.from(body).toString(), bodyBase64: Buffer.from(body).toString('base64') };
    }
    if (Array.isArray(value)) return value.map(wire);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, wire(member)]));
}

function resultOf(name, value) {
    if (name === 'metrics') return { text: value };
    if (name === 'renew' && value.snapshot !== null) return wire(value.snapshot);
    return wire(value);
}

async function outcome(name, promise) {
    try {
        return { result: resultOf(name, await promise) };
    } catch (error) {
        if (error instanceof Raised) return { error: { kind: 'raised' } };
        if (!(error instanceof JunctionError)) throw error;
        const { kind, message, code, retryAfter, userId, capability, maximum, termination } = error;
        return { error: wire({ kind, message, code, retryAfter, userId, capability, maximum, termination }) };
    }
}

function expand(value) {
    if (Array.isArray(value)) return value.map(expand);
    if (value === null || typeof value !== 'object') return value;
    if (Object.keys(value).join() === '$repeat') return value.$repeat[0].repeat(value.$repeat[1]);
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, expand(member)]));
}

/** Whether all that is expected is there; null is absent. */
function fits(expected, found) {
    if (expected === null) return found === null || found === undefined;
    if (Array.isArray(expected)) {
        return Array.isArray(found) && found.length === expected.length && expected.every((each, i) => fits(each, found[i]));
    }
    if (typeof expected !== 'object') return expected === found;
    if (found === null || typeof found !== 'object') return false;
    return Object.entries(expected).every(([name, member]) => fits(member, found[name]));
}

function check(expected, found, what) {
    const wanted = expand(expected);
    const kinds = wanted.error?.kind;
    if (Array.isArray(kinds) && kinds.includes(found.error?.kind)) wanted.error.kind = found.error.kind;
    if (!fits(wanted, found)) assert.fail(`${what}: expected ${brief(wanted)}, found ${brief(found)}`);
}

function brief(value) {
    const text = JSON.stringify(value);
    return text.length <= 600 ? text : `${text.slice(0, 600)}… (${text.length} characters)`;
}

const timeoutOf = (step) => (step.timeout === undefined ? Infinity : step.timeout / 1000);

/** The library's own call for a step. */
function call(client, step, signal) {
    const { userId, method, path, bodyBase64, ...params } = expand(step.params ?? {});
    const options = { timeout: timeoutOf(step), signal };
    switch (step.call) {
        case 'signIn':
            return client.signIn(expand(step.params), options);
        case 'reconcile':
            return client.reconcile(userId, options);
        case 'api': {
            const body = bodyBase64 === undefined ? params.body : Buffer.from(bodyBase64, 'base64');
            return client.request(method, path, { ...params, body, ...options });
        }
        default:
            return client[step.call]({ ...params, ...options });
    }
}

class Daemon {
    constructor(transcript, path) {
        this.path = path;
        const program = [join(SUITE, 'scripted-daemon'), join(SUITE, 'transcripts', transcript), path];
        this.process = spawn('python3', program, { stdio: ['pipe', 'pipe', 'pipe'] });
        this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
        this.wrong = '';
        this.process.stderr.on('data', (data) => (this.wrong += data));
        this.ended = once(this.process, 'close');
    }

    async hear(expected = 'told') {
        const { value } = await this.lines.next();
        assert.equal(value, expected, `the scripted daemon said nothing: ${this.wrong}`);
    }

    tell() {
        this.process.stdin.write('\n');
    }

    async finish() {
        const [status] = await this.ended;
        assert.equal(status, 0, this.wrong);
    }
}

class Runner {
    constructor(daemon) {
        this.daemon = daemon;
        this.client = new Client({ socket: daemon.path });
        this.watches = new Map();
    }

    async play(steps) {
        try {
            for (const step of steps) await this.step(step);
        } finally {
            for (const watch of this.watches.values()) await watch.return();
            this.client.close();
        }
    }

    async step(step) {
        if (step.call !== undefined) await this.call(step);
        else if (step.together !== undefined) await Promise.all(step.together.map((each) => this.call(each)));
        else if (step.identify !== undefined) await this.identify(step);
        else if (step.watch !== undefined) await this.watch(step);
        else if (step.handle !== undefined) await this.handle(step);
        else if (step.end !== undefined) await this.watches.get(step.end).return();
        else if (step.tell !== undefined) this.daemon.tell();
        else if (step.hear !== undefined) await this.daemon.hear();
        else assert.fail(`an unknown step: ${brief(step)}`);
    }

    async call(step) {
        const abort = new AbortController();
        const found = outcome(step.call, call(this.client, step, abort.signal));
        if (step.cancelWhenHeard) {
            await this.daemon.hear();
            abort.abort();
        }
        check(step.expect, await found, step.call);
    }

    async identify(step) {
        const asked = [];
        let late = Promise.resolve();
        const credential = async (user, { signal }) => {
            asked.push(user);
            if (step.credential === 'raises') throw new Raised();
            // The signal is aborted when the time is over.
            if (step.late) await (late = once(signal, 'abort'));
            return step.credential;
        };
        const found = outcome('identify', this.client.identify(step.identify, credential, { timeout: timeoutOf(step) }));
        check(step.expect, await found, 'identify');
        await late;
        if (step.asked !== undefined) assert.deepEqual(asked, Array(step.asked).fill(step.identify));
    }

    async watch(step) {
        if (!this.watches.has(step.watch)) {
            this.watches.set(step.watch, step.states ? this.client.watchState() : this.client.watch());
        }
        const watch = this.watches.get(step.watch);
        if (step.error !== undefined) check({ error: step.error }, await outcome('watch', watch.next()), 'watch');
        for (const expected of step.next ?? []) check(expected, wire((await watch.next()).value), 'watch');
        for (let last = null; step.until !== undefined; ) {
            const { value } = await watch.next();
            assert.ok(last === null || value.revision > last, `revision ${value.revision} came after ${last}`);
            last = value.revision;
            if (fits(step.until, wire(value))) break;
        }
    }

    async handle(step) {
        const expected = [...step.handle];
        const abort = new AbortController();
        const wrong = [];
        const decide = async (request) => {
            const now = expected.shift();
            try {
                check(now.request, wire(request), 'handle');
            } catch (error) {
                wrong.push(error);
            }
            if (expected.length === 0) abort.abort();
            if (now.answer === 'raises') throw new Raised();
            return now.answer;
        };
        const handling = this.client.handleRenewals(decide, { signal: abort.signal, onError: () => {} });
        const found = await outcome('handle', handling);
        check({ error: step.error ?? null }, found, 'handle');
        if (wrong.length > 0) throw wrong[0];
    }
}

for (const name of TRANSCRIPTS) {
    const story = JSON.parse(readFileSync(join(SUITE, 'transcripts', name), 'utf8'));
    test(`${basename(name, '.json')}: ${story.about}`, async () => {
        const folder = mkdtempSync(join(tmpdir(), 'jd-'));
        const daemon = new Daemon(name, join(folder, 'd.sock'));
        try {
            await daemon.hear('listening');
            await new Runner(daemon).play(story.do);
            await daemon.finish();
        } finally {
            daemon.process.kill('SIGCONT');
            daemon.process.kill('SIGKILL');
            rmSync(folder, { recursive: true });
        }
    });
}

test('there are transcripts', () => {
    assert.ok(TRANSCRIPTS.length >= 70);
});
