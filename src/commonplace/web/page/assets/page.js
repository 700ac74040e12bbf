// What makes the page quicker with JavaScript on: keys, forms that ask first, choices that send themselves.
// Everything works without it.
"use strict";

const typing = (element) => element.closest("input, textarea, select, [contenteditable], dialog[open]") !== null;

const goto = (key) => {
  const link = document.querySelector(`nav.side a[data-key="${CSS.escape(key)}"]`);
  if (link) location.assign(link.href);
};

const items = () => [...document.querySelectorAll("[data-keys] > *")];

const move = (step) => {
  const all = items();
  if (!all.length) return;
  const now = all.findIndex((each) => each.classList.contains("chosen"));
  const next = all[Math.min(Math.max(now + step, 0), all.length - 1)];
  all.forEach((each) => each.classList.toggle("chosen", each === next));
  next.scrollIntoView({ block: "nearest" });
  next.dispatchEvent(new CustomEvent("chosen", { bubbles: true }));
};

const openChosen = () => {
  const link = document.querySelector("[data-keys] > .chosen a[href]");
  if (link) link.click();
  return Boolean(link);
};

// A button or link with data-press="a" in the chosen item of a list is pressed by the key a.
const press = (key) => {
  const target = document.querySelector(`[data-keys] > .chosen [data-press="${CSS.escape(key)}"]`);
  if (target) target.click();
  target?.closest("details")?.querySelector("textarea")?.focus();
  return Boolean(target);
};

// After a form, the address names the place of the next item.
const chosenAtFirst = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
if (chosenAtFirst && chosenAtFirst.parentElement.hasAttribute("data-keys")) chosenAtFirst.classList.add("chosen");

let isGoing = false;

// From a search field the arrow goes to the hits, where j and k choose and Enter opens.
document.addEventListener("keydown", (event) => {
  if (event.key !== "ArrowDown" || event.target.type !== "search" || !items().length) return;
  event.preventDefault();
  event.target.blur();
  move(1);
});

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const wasGoing = isGoing;
  isGoing = false;
  if (wasGoing) return goto(event.key);
  const search = document.getElementById("question") ?? document.getElementById("find");
  const keys = document.getElementById("keys");
  // For a moment after a dialog was closed, the focus is still on its hidden button.
  const onButton = event.target.checkVisibility() && event.target.closest("a, button, summary");
  const actions = {
    "/": () => search && (search.focus(), search.select(), true),
    "?": () => keys && (keys.showModal(), true),
    g: () => ((isGoing = true), true),
    j: () => (move(1), true),
    k: () => (move(-1), true),
    Enter: () => !onButton && openChosen(),
  };
  const action = actions[event.key];
  if (action ? action() : press(event.key)) event.preventDefault();
});

// A form that changes something is sent once: a double click would decide it, and then show that it was decided already.
const sent = new Set();

document.addEventListener("submit", (event) => {
  const form = event.target;
  const question = form.dataset.confirm;
  if (sent.has(form) || (question && !window.confirm(question))) return event.preventDefault();
  if (form.method !== "post") return;
  sent.add(form);
  setTimeout(() => sent.delete(form), 10_000); // it was stopped, or its answer was lost
});

window.addEventListener("pageshow", () => sent.clear()); // the browser went back to this page

for (const choice of document.querySelectorAll("select[data-sends]")) {
  const button = choice.form.querySelector("button[type=submit]");
  if (button) button.hidden = true;
  choice.addEventListener("change", () => choice.form.requestSubmit());
}

// A form with data-live="ID" updates the element of that id while one types, by the answer to its own address.
for (const form of document.querySelectorAll("form[data-live]")) {
  const shown = document.getElementById(form.dataset.live);
  let waiting = 0;
  let asked = null;
  const update = async () => {
    const address = `${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`;
    asked?.abort();
    asked = new AbortController();
    shown.setAttribute("aria-busy", "true");
    try {
      const reply = await fetch(address, { headers: { "X-Part": form.dataset.live }, signal: asked.signal });
      if (!reply.ok) return form.submit();
      shown.innerHTML = await reply.text();
      history.replaceState(null, "", address);
      shown.setAttribute("aria-busy", "false");
    } catch (error) {
      if (error.name === "AbortError") return;
      shown.textContent = "Commonplace does not answer. Is it running? In a terminal: commonplace status";
      shown.setAttribute("aria-busy", "false");
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(update, 80);
  });
}

// An element with data-refresh="SECONDS" is read again from this address, until the answer says that nothing moves.
const refresh = async (shown) => {
  if (!document.hidden) {
    const reply = await fetch(location.href);
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const now = reply.ok && page.getElementById(shown.id);
    if (!now) return location.reload();
    const wasHere = shown.contains(document.activeElement);
    if (now.innerHTML !== shown.innerHTML && !wasHere) shown.innerHTML = now.innerHTML;
    if (!now.dataset.refresh && !wasHere) return shown.removeAttribute("data-refresh");
  }
  setTimeout(refresh, shown.dataset.refresh * 1000, shown);
};

for (const shown of document.querySelectorAll("[data-refresh]")) setTimeout(refresh, shown.dataset.refresh * 1000, shown);

// What happens in the vault meanwhile: the number that waits stands beside Review, the rest in a line at the foot:
// the news since the page was opened, then the work under way, which is gone when it is done.
// A hidden tab does not listen: a browser has few connections to one server.
const line = document.querySelector(".live");
let stream = null;
let changes = 0;
let news = "";
const underWay = new Map();

const show = () => {
  line.replaceChildren([news, ...underWay.values()].filter(Boolean).join(" "));
  if (news && !("isAnswer" in line.dataset)) {
    const link = document.createElement("a");
    link.href = location.pathname + location.search; // without its #place, which would read nothing again
    link.textContent = "Show";
    line.append(" ", link);
  }
  line.hidden = !line.textContent;
};

const tell = (text) => {
  news = text;
  show();
};

const tellWork = (name, text) => {
  if (text) underWay.set(name, text);
  else underWay.delete(name);
  show();
};

const showWaiting = (count) => {
  for (const link of document.querySelectorAll('nav a[href="/review"]')) {
    link.querySelector(".badge")?.remove();
    if (!count) continue;
    const badge = document.createElement("span");
    badge.className = "badge";
    badge.textContent = count;
    link.append(" ", badge);
  }
};

const heard = {
  hello: () => (document.body.dataset.live = "yes"),
  write: () => tell(`${++changes} ${changes === 1 ? "change" : "changes"} since you opened this page.`),
  job: (event) => {
    const isOver = event.state === "finished";
    if (isOver && !changes) tell(`${event.job}: ${event.state}.`);
    tellWork(`job ${event.job}`, isOver ? "" : `${event.job}: ${event.state}.`);
  },
  review: (event) => showWaiting(event.waiting),
  progress: (event) =>
    tellWork(event.work, event.done < event.total ? `Reading: ${event.done} of ${event.total} ${event.what}.` : ""),
  missed: () => tell("Much has happened since you opened this page."),
};

const listen = () => {
  if (document.hidden || stream) return;
  stream = new EventSource("/live");
  for (const [kind, told] of Object.entries(heard))
    stream.addEventListener(kind, (event) => told(JSON.parse(event.data)));
};

const rest = () => {
  stream?.close();
  stream = null;
};

if (line) {
  listen();
  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : listen()));
  window.addEventListener("pagehide", rest);
}
