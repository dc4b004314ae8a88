// Typed access to the members of a JSON object. An error names the member and shows no value.

/** A value of the wrong type. */
export class Mismatch extends Error {}

const REQUIRED = Symbol('required');

/**
 * Returns a reader of an object. Unknown members are ignored, because a newer daemon may send more. An optional member that
 * is null counts as absent.
 */
export function record(place, shape) {
    const members = Object.entries(shape);
    return (value) => {
        if (!isObject(value)) throw new Mismatch(`'${place}' must be an object`);
        const found = {};
        for (const [name, { read, otherwise }] of members) {
            const member = Object.hasOwn(value, name) ? value[name] : null;
            if (member !== null) {
                found[name] = read(member);
                if (found[name] === undefined) throw new Mismatch(`'${place}.${name}' cannot be read`);
            } else if (otherwise === REQUIRED) {
                throw new Mismatch(`'${place}.${name}' is missing`);
            } else {
                found[name] = otherwise;
            }
        }
        return found;
    };
}

export const required = (read) => ({ read, otherwise: REQUIRED });
export const optional = (read, otherwise = null) => ({ read, otherwise });

/** Reads a value, or returns null if it cannot be read. */
export function ifReadable(read, value) {
    try {
        return read(value);
    } catch (error) {
        if (error instanceof Mismatch) return null;
        throw error;
    }
}

// Readers of member values. Each returns undefined for a value of another type.

export function isObject(value) {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const text = (value) => (typeof value === 'string' ? value : undefined);
export const number = (value) => (Number.isInteger(value) && value >= 0 ? value : undefined);
export const seconds = (value) => (typeof value === 'number' ? value : undefined);
export const boolean = (value) => (typeof value === 'boolean' ? value : undefined);
export const words = (value) =>
    Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : undefined;
export const texts = (value) =>
    isObject(value) && Object.values(value).every((each) => typeof each === 'string') ? value : undefined;

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** Reads an RFC 3339 time with any offset, truncated to milliseconds. */
export function time(value) {
    const match = typeof value === 'string' ? RFC3339.exec(value) : null;
    if (match === null) return undefined;
    const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
    const [offsetHours, offsetMinutes] = match.slice(9, 11).map((digits) => Number(digits ?? 0));
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    // Date would carry an impossible day, such as 30 February, over to the next month.
    if (month < 1 || month > 12 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
    if (hour > 23 || minute > 59 || second > 60 || offsetHours > 23 || offsetMinutes > 59) return undefined;
    const offset = (offsetHours * 60 + offsetMinutes) * (match[8] === '-' ? -1 : 1);
    // A leap second counts as the first second of the next minute, as in the system clock.
    date.setUTCHours(hour, minute - offset, second, Number((match[7] ?? '0').slice(0, 3).padEnd(3, '0')));
    return date;
}

export const termination = record('termination', { code: required(text), message: required(text), at: required(time) });
