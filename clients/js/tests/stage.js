// The built daemon and the sandbox, each a process of its own on a folder of its own. JUNCTION_BINARIES names the folder of the
// programs.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, closeSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'junctiond';

const binaries = process.env.JUNCTION_BINARIES;
assert.ok(binaries, 'JUNCTION_BINARIES does not say where the built daemon is: use run-tests');

/** A stand-in for the provider's cloud, on loopback. */
export class Sandbox {
    static async start() {
        const sandbox = new Sandbox();
        const options = { stdio: ['ignore', 'pipe', 'ignore'] };
        sandbox.process = spawn(join(binaries, 'junction-sandbox'), ['--listen', '127.0.0.1:0'], options);
        const [line] = await once(createInterface({ input: sandbox.process.stdout }), 'line');
        sandbox.url = line.split(' ').at(-1);
        return sandbox;
    }

    async post(path, body = {}) {
        const answer = await fetch(this.url + path, { method: 'POST', body: JSON.stringify(body) });
        assert.ok(answer.ok, await answer.clone().text());
        return answer.json();
    }

    async newUser(name) {
        return (await this.post('/sandbox/users', { clientUserId: name })).userId;
    }

    /** A credential for this user. */
    async credential(user) {
        const answer = await this.post(`/sandbox/users/${user}/sign-in-token`);
        return { scheme: 'signInToken', token: answer.signInToken };
    }

    close() {
        this.process.kill('SIGKILL');
    }
}

/** One installation: configuration, state, and the process, which may die and come back. */
export class Daemon {
    constructor(configuration) {
        // The path of a socket is short.
        this.folder = mkdtempSync(join(tmpdir(), 'jd-'));
        this.socket = join(this.folder, 'rpc');
        writeFileSync(join(this.folder, 'key'), 'sandbox-api-key', { mode: 0o600 });
        writeFileSync(join(this.folder, 'junctiond.toml'), configuration.replaceAll('FOLDER', this.folder));
    }

    /** Returns when the daemon answers. */
    async start() {
        const log = openSync(join(this.folder, 'log'), 'a');
        const words = ['--config', join(this.folder, 'junctiond.toml'), '--socket', this.socket];
        this.process = spawn(join(binaries, 'junctiond'), [...words, '--state-dir', join(this.folder, 'state')], {
            env: { PATH: process.env.PATH, HOME: this.folder },
            stdio: ['ignore', log, log],
        });
        closeSync(log);
        this.ended = once(this.process, 'exit');
        const over = new AbortController();
        this.process.once('exit', () => over.abort());
        const client = new Client({ socket: this.socket });
        await client.wait(() => true, { signal: over.signal });
        return this;
    }

    async kill() {
        this.process.kill('SIGKILL');
        await this.ended;
    }

    /** Stops it, and returns when every thread has stopped. */
    async pause() {
        this.process.kill('SIGSTOP');
        const folder = `/proc/${this.process.pid}/task`;
        const isStopped = (task) => readFileSync(`${folder}/${task}/stat`, 'latin1').split(') ').at(-1)[0] === 'T';
        while (!readdirSync(folder).every(isStopped)) await new Promise(setImmediate);
    }

    goOn() {
        this.process.kill('SIGCONT');
    }

    async close() {
        if (this.process?.exitCode === null && this.process.signalCode === null) await this.kill();
        rmSync(this.folder, { recursive: true });
    }
}

export const junction = (sandbox) => `provider = "junction"
[junction]
authUrl = "${sandbox.url}"
apiUrl = "${sandbox.url}"
[limits]
providerCallsPerMinute = 600
`;

/** A daemon of social.plus, which asks a session handler for every auth token. */
export const asking = (sandbox) => `provider = "social"
[social]
apiUrl = "${sandbox.url}"
region = "eu"
apiKeyFile = "FOLDER/key"
[renewal]
mode = "handler"
handlerTimeout = 30
`;

/** Asserts that the promise rejects with this kind of error, and returns the error. */
export async function rejects(promise, kind) {
    let found;
    await assert.rejects(promise, (error) => {
        found = error;
        assert.equal(error.kind, kind, String(error));
        return true;
    });
    return found;
}
