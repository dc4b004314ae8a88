// Draws the state that /sandbox/events sends. Each button sends the same request that a script would send.
"use strict";

const at = (id) => document.getElementById(id);
const origin = location.origin;

// ---- drawing ----

/** Creates an element. Its children are text or elements, never markup, so that a name cannot inject HTML. */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Sets a text only if it differs, so that focus and selection are kept. */
function write(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** Updates a list to show the items. An item that stays keeps its element, and so the focus. */
function fit(list, items, key, make, update) {
  const wanted = new Set(items.map(key));
  const known = new Map();
  for (const child of [...list.children]) {
    if (wanted.has(child.dataset.key)) known.set(child.dataset.key, child);
    else child.remove();
  }
  let place = list.firstElementChild;
  for (const item of items) {
    let child = known.get(key(item));
    if (!child) {
      child = make(item);
      child.dataset.key = key(item);
    }
    if (update) update(child, item);
    if (child === place) place = place.nextElementSibling;
    else list.insertBefore(child, place);
  }
  const empty = document.querySelector(`.empty[data-for="${list.id}"]`);
  if (empty) empty.hidden = items.length > 0;
}

function announce(text) { write(at("news"), text); }

let vendors = new Map(); // by name

// ---- times, on the sandbox's clock ----

let skew = 0; // the sandbox's clock minus this browser's, in milliseconds

const clockTime = (date) => new Date(date).toISOString().slice(11, 19);

function span(seconds) {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
}

function tick() {
  const now = Date.now() + skew;
  write(at("now"), new Date(now).toISOString().replace("T", " ").slice(0, 19) + " UTC");
  for (const grace of document.querySelectorAll(".grace")) {
    const left = (Number(grace.dataset.until) - now) / 1000;
    const isOpen = grace.dataset.last === "true" && left > 0;
    grace.dataset.open = String(isOpen);
    const token = grace.dataset.token;
    write(grace, isOpen ? `${token} may be used again for ${span(left)}` : `the grace of ${token} is over`);
  }
}
setInterval(tick, 1000);

// ---- calls ----

const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

function curl(method, path, body) {
  const verb = method === "GET" || (method === "POST" && body !== undefined) ? "" : ` -X ${method}`;
  const data = body === undefined ? "" : ` -d ${quoted(JSON.stringify(body))}`;
  return `curl -s${verb} ${quoted(origin + path)}${data}`;
}

/** Sends a request, and shows it with its answer. */
async function call(label, method, path, body) {
  write(at("last-command"), curl(method, path, body));
  let status;
  let text;
  try {
    const answer = await fetch(path, { method, body: body === undefined ? undefined : JSON.stringify(body) });
    text = await answer.text();
    status = answer.status;
  } catch {
    announce(`${label}: the sandbox does not answer`);
    return undefined;
  }
  let value;
  try {
    value = JSON.parse(text);
    text = JSON.stringify(value, null, 2);
  } catch {
    value = undefined;
  }
  write(at("last-status"), `${label}: ${status}`);
  write(at("last-answer"), text);
  at("last-call").hidden = false;
  document.querySelector('.empty[data-for="last-answer"]').hidden = true;
  announce(status < 300 ? `${label}: done` : `${label}: refused. ${value?.error ?? status}`);
  return status < 300 ? value : undefined;
}

async function copy(text, label) {
  try {
    await navigator.clipboard.writeText(text);
    announce(`Copied: ${label}`);
  } catch {
    announce("This browser does not let a page copy. Select the text instead.");
  }
}

function button(label, press, description) {
  const made = element("button", { type: "button" }, label);
  if (description) made.setAttribute("aria-label", description);
  made.addEventListener("click", press);
  return made;
}

// ---- logins ----

const token = (token) => (token ? `${token.number ? `#${token.number}` : "an older token"} (${token.fingerprint})` : "no token");

const told = {
  opened: (entry) => (entry.issued ? `Signed in, with refresh token ${token(entry.issued)}` : "Signed in"),
  rotated: (entry) => `Renewed: ${token(entry.shown)} was replaced by ${token(entry.issued)}`,
  renewed: (entry) => (entry.shown ? `Renewed: ${token(entry.shown)} stays` : "Renewed"),
  replayed: (entry) => `Used again within its grace: ${token(entry.shown)} got ${token(entry.issued)}`,
  reused: (entry) => `Reused: ${token(entry.shown)} was over, so the whole family is revoked`,
  refused: (entry) => `Refused: ${token(entry.shown)}`,
  signedOut: () => "Signed out by the client",
  ended: () => "Ended: the user has to sign in again",
  deleted: () => "Ended with its user",
  codeReused: () => "Revoked: its code was used twice",
  accessTokensExpired: () => "The access tokens expired",
  accessTokensRevoked: () => "The access tokens were revoked",
};

const storyLengths = new Map();

function drawLogin(article, login) {
  const badge = article.querySelector(".badge");
  const standing = login.isAlive ? "alive" : "ended";
  badge.dataset.standing = standing;
  write(badge, standing);
  const place = login.deviceId ? `device ${login.deviceId}` : [login.clientId, `family ${login.id.slice(0, 8)}`].filter(Boolean).join(", ");
  const count = login.accessTokens.length;
  // A Sinch login has no access tokens.
  const good = login.deviceId && count === 0 ? "" : count === 1 ? "1 good access token" : `${count} good access tokens`;
  const end = login.expiresAt ?? login.accessTokens.at(-1);
  write(article.querySelector(".faint"), [place, good, end && `until ${clockTime(end)}`].filter(Boolean).join(" · "));

  const entries = login.story.entries.map((entry, index) => ({ ...entry, index: index === 0 ? 0 : index + login.story.dropped }));
  // The use of a successor ends the grace of all older tokens.
  const last = entries.findLast((entry) => entry.kind === "rotated")?.index ?? 0;
  fit(article.querySelector(".timeline"), entries.reverse(), (entry) => String(entry.index), (entry) => {
    const item = element("li", { "data-kind": entry.kind },
      element("time", { datetime: entry.at }, clockTime(entry.at)), told[entry.kind](entry));
    if (entry.graceEndsAt && entry.shown) {
      item.append(element("span", { class: "grace", "data-until": Date.parse(entry.graceEndsAt), "data-token": token(entry.shown) }));
    }
    return item;
  }, (item, entry) => {
    const grace = item.querySelector(".grace");
    if (grace) grace.dataset.last = String(login.isAlive && entry.index >= last);
  });

  const length = login.story.entries.length + login.story.dropped;
  const before = storyLengths.get(login.key);
  storyLengths.set(login.key, length);
  const newest = login.story.entries.at(-1);
  if (before !== undefined && length > before) announce(`${login.user}: ${told[newest.kind](newest)}`);
}

function makeLogin(login) {
  const title = `login-${login.key}`;
  return element("article", { class: "login", "aria-labelledby": title, "data-vendor": login.vendor },
    element("h3", { id: title }, element("span", { class: "who" }, login.user), ` at ${vendors.get(login.vendor).title}`,
      element("span", { class: "badge" })),
    element("p", { class: "faint" }),
    element("ol", { class: "timeline", tabindex: "0", "aria-label": `What happened to ${login.user}'s login, newest first` }));
}

// ---- users ----

const userPath = (user, verb) => `${vendors.get(user.vendor).path}/${encodeURIComponent(user.userId)}/${verb}`;

function signInCommand(user) {
  switch (user.vendor) {
    case "junction":
      return `${curl("POST", userPath(user, "sign-in-token"))} | jq -r .signInToken | junctionctl sign-in`;
    case "oauth":
      return "junctionctl sign-in --device";
    default:
      return `junctionctl sign-in --user-id ${quoted(user.userId)}`;
  }
}

function makeUser(user) {
  const actions = element("div", { class: "actions" });
  for (const action of vendors.get(user.vendor).actions) {
    const label = `${user.name}: ${action.label}`;
    actions.append(button(action.label, () => call(label, "POST", userPath(user, action.verb)), label));
  }
  const command = signInCommand(user);
  return element("li", { "data-vendor": user.vendor },
    element("span", { class: "who" }, user.name), element("span", { class: "badge" }),
    element("div", { class: "faint" }),
    element("details", {},
      element("summary", { "aria-label": `What can be done with ${user.name}` }, "What can be done"), actions),
    element("div", { class: "actions" },
      button("Copy how to sign in", () => copy(command, command), `Copy how to sign ${user.name} in`)));
}

function drawUser(item, user) {
  const badge = item.querySelector(".badge");
  badge.dataset.standing = user.standing;
  write(badge, user.standing);
  const place = user.junction ? `${user.junction.team.environment} ${user.junction.team.region}` : "";
  const logins = user.logins === 1 ? "1 login" : `${user.logins} logins`;
  write(item.querySelector(".faint"), [vendors.get(user.vendor).title, user.userId === user.name ? "" : user.userId, place, logins].filter(Boolean).join(" · "));
}

function makeDevice(device) {
  const path = `/sandbox/oauth/devices/${encodeURIComponent(device.userCode)}`;
  const label = (verb) => `${verb} ${device.userCode}`;
  return element("li", {},
    element("span", { class: "who" }, device.userCode), ` ${device.request.clientId}`,
    element("div", { class: "actions" },
      button("Approve", () => call(label("Approve"), "POST", `${path}/approve`, { user: at("approver").value }), label("Approve")),
      button("Deny", () => call(label("Deny"), "POST", `${path}/deny`), label("Deny")),
      button("Let it expire", () => call(label("Expire"), "POST", `${path}/expire`), label("Let expire"))));
}

at("new-user").addEventListener("submit", (event) => {
  event.preventDefault();
  call("Add the user", "POST", vendors.get(at("new-vendor").value).path, { name: at("new-name").value });
});

// ---- faults ----

for (const pressed of document.querySelectorAll("button[data-fault]")) {
  pressed.addEventListener("click", () => {
    const fault = { ...JSON.parse(at("match").value), ...JSON.parse(pressed.dataset.fault) };
    if (at("times").value) fault.times = Number(at("times").value);
    call(pressed.textContent, "POST", "/sandbox/faults", fault);
  });
}

at("own-fault").addEventListener("submit", (event) => {
  event.preventDefault();
  let fault;
  try {
    fault = JSON.parse(at("fault-text").value);
  } catch (error) {
    announce(`This is not JSON: ${error.message}`);
    return;
  }
  call("A fault of your own", "POST", "/sandbox/faults", fault);
});

// ---- settings, and other buttons that send one request ----

for (const pressed of document.querySelectorAll("button[data-call]")) {
  pressed.addEventListener("click", () => {
    if (pressed.dataset.confirm && !window.confirm(pressed.dataset.confirm)) return;
    const [method, path] = pressed.dataset.call.split(" ");
    call(pressed.textContent, method, path, pressed.dataset.body ? JSON.parse(pressed.dataset.body) : undefined);
  });
}

at("settings").addEventListener("submit", (event) => {
  event.preventDefault();
  const wishes = {
    rotationGrace: Number(at("rotationGrace").value),
    singleUseSignInTokens: at("singleUseSignInTokens").checked,
  };
  if (at("accessTokenLifetime").value !== "") wishes.accessTokenLifetime = Number(at("accessTokenLifetime").value);
  call("Settings", "POST", "/sandbox/settings", wishes);
});

function drawSettings(settings) {
  // Do not overwrite a field that the user is editing.
  if (at("settings").contains(document.activeElement)) return;
  at("accessTokenLifetime").value = settings.accessTokenLifetime ?? "";
  at("rotationGrace").value = settings.rotationGrace;
  at("singleUseSignInTokens").checked = settings.singleUseSignInTokens;
}

for (const pressed of document.querySelectorAll("button[data-copy]")) {
  pressed.addEventListener("click", () => copy(at(pressed.dataset.copy).textContent, pressed.textContent));
}

// ---- configurations ----

function drawConfigurations(vendors) {
  fit(at("configurations"), vendors, (vendor) => vendor.vendor, (vendor) => {
    const text = vendor.configuration;
    return element("details", {},
      element("summary", {}, vendor.title),
      element("pre", { tabindex: "0", "aria-label": `Configuration for ${vendor.title}` }, element("code", {}, text)),
      button("Copy", () => copy(text, `configuration for ${vendor.title}`), `Copy the configuration for ${vendor.title}`));
  });
}

// ---- everything ----

function draw(overview) {
  skew = Date.parse(overview.now) - Date.now();
  write(at("offset"), overview.clockOffset ? `, ${span(overview.clockOffset)} ahead of this machine` : "");

  vendors = new Map(overview.vendors.map((vendor) => [vendor.vendor, vendor]));
  const logins = overview.logins.map((login) => ({ ...login, key: `${login.vendor}-${login.id}` }));
  logins.sort((one, other) => other.openedAt.localeCompare(one.openedAt));
  fit(at("login-list"), logins, (login) => login.key, makeLogin, drawLogin);
  fit(at("user-list"), overview.users, (user) => `${user.vendor} ${user.userId}`, makeUser, drawUser);
  at("devices-box").hidden = overview.devices.length === 0;
  fit(at("devices"), overview.devices, (device) => device.userCode, makeDevice);

  fit(at("pending"), overview.faults.map((fault, index) => ({ fault, index })), (item) => String(item.index),
    () => element("li", {}, element("code", {})),
    (item, { fault }) => write(item.firstChild, JSON.stringify(fault)));
  write(at("hanging"), String(overview.counters.hanging));
  drawSettings(overview.settings);
  drawConfigurations(overview.vendors);

  const figures = Object.entries(overview.counters).filter(([, value]) => typeof value === "number");
  fit(at("counters"), figures, ([name]) => name,
    ([name]) => element("div", { "data-counter": name }, element("dt", {}, name), element("dd", {})),
    (item, [, value]) => write(item.lastChild, String(value)));
  fit(at("requests"), overview.requests, (note) => String(note.number), (note) => {
    const form = note.form.map((field) => `${field.name}=${field.value.replace(/^(sha256:.{8}).*/, "$1…")}`).join("&");
    return element("li", {}, element("time", { datetime: note.at }, clockTime(note.at)), ` ${note.method} ${note.path} `,
      element("span", { class: "faint" }, form));
  });
  tick();
}

function connected(state, text) {
  document.body.dataset.connection = state;
  write(at("connection"), text);
}

const events = new EventSource("/sandbox/events");
events.addEventListener("message", (event) => {
  connected("live", "Live: this page follows what happens");
  draw(JSON.parse(event.data));
});
events.addEventListener("error", () => connected("lost", "The sandbox is not reachable; this page tries again"));
