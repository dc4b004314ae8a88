// The client library of junctiond. README.md beside this folder has the guide, and index.d.ts describes each call.
export { Client } from './client.js';
export { JunctionError } from './errors.js';
export { Secret } from './secret.js';
export { AccessToken, ApiAnswer, Snapshot } from './values.js';
