import { inspect } from 'node:util';

/** A token, code or key. It is not printed, logged or serialised; only `reveal()` returns its text. */
export class Secret {
    #text;

    constructor(text) {
        this.#text = text instanceof Secret ? text.reveal() : String(text);
    }

    reveal() {
        return this.#text;
    }

    toString() {
        return '<Secret>';
    }

    toJSON() {
        return '<Secret>';
    }

    [inspect.custom]() {
        return '<Secret>';
    }
}

/** Returns the text of a secret argument, which is a string or a `Secret`. */
export function revealed(value) {
    return value instanceof Secret ? value.reveal() : value;
}
