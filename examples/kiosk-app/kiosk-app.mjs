#!/usr/bin/env node
// An app that decides who is signed in on this device. See README.md beside this file.
//
//     kiosk-app.mjs ACCOUNT-FILE
//
// ACCOUNT-FILE has two lines: the user of the app, and the user's session at the app's backend. It is empty while the app has no
// user. The app reads it once: after a change, restart the app. $BACKEND is the address of the backend.
import { readFile } from 'node:fs/promises';
import { Client, JunctionError } from 'junctiond';

// One file, so that a user never meets the session of another one.
const [user, session] = (await readFile(process.argv[2], 'utf8')).split('\n').map((line) => line.trim() || null);
// An error of fetch would print such a session.
if (session !== null && !/^[!-~]+$/.test(session)) throw new Error('the second line of the account file is no session');
const junction = new Client();

/** Called only if the daemon needs a credential: not on every start. */
async function credential(user, { signal }) {
    console.log(`asking the backend about ${user}`);
    const headers = { Authorization: `Bearer ${session}` };
    const answer = await fetch(`${process.env.BACKEND}/junction/sign-in-token`, { method: 'POST', headers, signal, redirect: 'error' });
    if (!answer.ok) throw new Error(`the backend answered ${answer.status}`);
    // The whole answer: the daemon then also compares its user_id with that of the token.
    return { scheme: 'signInToken', token: await answer.text() };
}

/** Makes the user of the app the signed-in one. */
async function identify() {
    const { flags, userId, externalUserId } = await junction.status();
    if (flags.includes('useApiKey')) console.log(`migrating ${userId} from an API key`);
    const { outcome, snapshot } = await junction.identify(user, credential, { timeout: 60 });
    console.log(`${externalUserId ?? 'no user'} -> ${user ?? 'no user'}: ${outcome}`);
    // What is left to do, which should be nothing.
    const { action } = await junction.reconcile(user === null ? null : snapshot.userId);
    console.log(`reconcile: ${action}`);
}

/** Tries again after an error that passes. The app goes on meanwhile: the session of before stays. */
async function identifyUntilDone() {
    for (;;) {
        try {
            return await identify();
        } catch (error) {
            console.log(`not identified: ${error instanceof JunctionError ? error.kind : error.message}`);
            await new Promise((resolve) => setTimeout(resolve, 1000 * (error.retryAfter ?? 5)));
        }
    }
}

identifyUntilDone();
let shown = '';
// Not watchState(): a switch of users is no change of the state.
for await (const { state, userId, termination } of junction.watch()) {
    const screen = `state: ${state}${userId === null ? '' : ` ${userId}`}${termination === null ? '' : ` (${termination.message})`}`;
    // A real app shows a screen for each state.
    if (screen !== shown) console.log(screen);
    shown = screen;
}
