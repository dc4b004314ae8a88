// JSON-RPC 2.0, one message a line.
import { JunctionError, errorFromWire, unreadable } from './errors.js';
import { isObject } from './members.js';

// The codes with which a client refuses a request of the daemon.
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INVALID_CREDENTIAL = 1002;

// The longest line that the daemon accepts.
const LONGEST_REQUEST = 1 << 20;
// The longest line that the daemon sends: an answer of 8 MiB in which every byte is escaped.
const LONGEST_ANSWER = 6 * (8 << 20) + (1 << 20);

const LINE_FEED = 0x0a;

/** Splits a stream of bytes that arrives in pieces into lines, and skips blank lines. */
export class LineSplitter {
    // The pieces of a line without its end. Joined once, so that a line in many pieces costs no more than one in few.
    #pieces = [];
    #length = 0;

    *lines(data) {
        let start = 0;
        for (;;) {
            const end = data.indexOf(LINE_FEED, start);
            const piece = data.subarray(start, end < 0 ? data.length : end);
            this.#length += piece.length;
            if (this.#length > LONGEST_ANSWER) throw unreadable(`it is longer than ${LONGEST_ANSWER} bytes`);
            this.#pieces.push(piece);
            if (end < 0) return;
            const line = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
            this.#pieces = [];
            this.#length = 0;
            start = end + 1;
            if (!isBlank(line)) yield line;
        }
    }
}

function isBlank(line) {
    return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

// Reading.

// A byte order mark is no JSON, so it stays in the text and the parser refuses it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

// An escape for half of a surrogate pair, after an even number of backslashes.
const HALF_A_PAIR = /(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]/;

/** Returns the messages of a line: one, or several in an array. */
export function messages(line) {
    const value = parsed(line);
    return (Array.isArray(value) && value.length > 0 ? value : [value]).map(sorted);
}

function parsed(line) {
    try {
        const text = utf8.decode(line);
        const value = JSON.parse(text);
        // JSON.stringify writes an escape only for a half that has no other half, which is not valid text.
        if (HALF_A_PAIR.test(text) && HALF_A_PAIR.test(JSON.stringify(value))) throw new SyntaxError();
        return value;
    } catch (error) {
        // The message does not contain the line, which may hold a secret.
        throw unreadable(error.name);
    }
}

function sorted(message) {
    if (!isObject(message)) throw unreadable('a message is an object');
    const { id, method } = message;
    const isAnswer = Object.hasOwn(message, 'result') || Object.hasOwn(message, 'error');
    if ((method === undefined || method === null) && isAnswer) return answer(message, id);
    if (message.jsonrpc !== '2.0' || typeof method !== 'string' || !isId(id)) {
        throw unreadable('it is no JSON-RPC 2.0 message');
    }
    const kind = Object.hasOwn(message, 'id') ? 'question' : 'notification';
    return { kind, id, method, params: message.params };
}

function isId(id) {
    return id === undefined || id === null || typeof id === 'string' || typeof id === 'number';
}

function answer(message, id) {
    const isResult = (message.error === undefined || message.error === null) && Object.hasOwn(message, 'result');
    const outcome = isResult ? message.result : errorFromWire(message.error);
    if (Number.isInteger(id)) return { kind: 'answer', id, outcome };
    // An error without an id is about the connection. A result without an integer id is ignored.
    return outcome instanceof JunctionError ? { kind: 'complaint', error: outcome } : { kind: 'nothing' };
}

// Writing.

export function requestLine(id, method, params) {
    return lineOf({ jsonrpc: '2.0', id, method, params });
}

export function resultLine(id, result) {
    return lineOf({ jsonrpc: '2.0', id, result });
}

export function errorLine(id, code, message) {
    return lineOf({ jsonrpc: '2.0', id, error: { code, message } });
}

function lineOf(message) {
    const text = JSON.stringify(message, (_, value) => {
        // JSON.stringify would write null, which means an absent parameter.
        if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} is no number of JSON`);
        return value;
    });
    // The daemon refuses such a line with an error about the whole connection.
    if (HALF_A_PAIR.test(text)) throw new TypeError('a text has half of a surrogate pair, which is not valid Unicode');
    const line = Buffer.from(`${text}\n`);
    // The daemon would answer a longer line with an error without an id, and close the connection.
    if (line.length - 1 > LONGEST_REQUEST) {
        throw new JunctionError('requestTooLarge', `it is longer than ${LONGEST_REQUEST} bytes, which is what the daemon accepts`);
    }
    return line;
}
