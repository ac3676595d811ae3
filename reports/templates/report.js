"use strict";
(() => {
  const $ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const form = document.querySelector(".filter");
  const find = document.getElementById("q");
  const shown = document.getElementById("shown");
  const all = document.getElementById("all");
  const chips = $(".chip");
  const rules = $("details.rule").map((node) => ({
    node,
    text: node.querySelector("summary").textContent.toLowerCase(),
    rows: $("tbody tr", node).map((row) => ({ row, text: null, verdict: row.className.slice(2) })),
  }));
  const total = rules.reduce((sum, rule) => sum + rule.rows.length, 0);
  let unfolded = false;

  const wanted = () => ({
    words: find.value.toLowerCase().split(/\s+/).filter(Boolean),
    verdicts: chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.verdict),
  });

  const off = (node, hide) => node.toggleAttribute("data-off", hide);

  function filter() {
    const { words, verdicts } = wanted();
    const narrowed = words.length > 0 || verdicts.length > 0;
    let count = 0;
    for (const rule of rules) {
      let inside = 0;
      for (const entry of rule.rows) {
        let keep = verdicts.length === 0 || verdicts.includes(entry.verdict);
        if (keep && words.length) {
          entry.text ??= entry.row.textContent.toLowerCase();
          keep = words.every((word) => entry.text.includes(word) || rule.text.includes(word));
        }
        off(entry.row, !keep);
        inside += keep;
      }
      const bare = rule.rows.length === 0 && (verdicts.length === 0 || verdicts.includes(rule.node.dataset.verdict))
        && words.every((word) => rule.text.includes(word));
      off(rule.node, narrowed && inside === 0 && !bare);
      rule.node.open = (narrowed && inside > 0) || unfolded;
      count += inside;
    }
    shown.textContent = `${count} of ${total} checks shown`;
    remember(words, verdicts);
  }

  function remember(words, verdicts) {
    const state = new URLSearchParams();
    if (words.length) state.set("q", words.join(" "));
    if (verdicts.length) state.set("verdict", verdicts.join(","));
    const text = String(state);
    if (text || location.hash.includes("=")) history.replaceState(null, "", text ? `#${text}` : "#rules");
  }

  function follow() {
    const hash = decodeURIComponent(location.hash.slice(1));
    if (hash.includes("=")) {
      const state = new URLSearchParams(location.hash.slice(1));
      find.value = state.get("q") ?? "";
      const verdicts = (state.get("verdict") ?? "").split(",");
      for (const chip of chips) chip.setAttribute("aria-pressed", String(verdicts.includes(chip.dataset.verdict)));
      filter();
      return;
    }
    const goal = hash && document.getElementById(hash);
    if (!goal) return;
    const fold = goal.closest("details");
    if (goal.closest("[data-off]")) clear();
    if (fold) fold.open = true;
    goal.scrollIntoView({ block: "start" });
  }

  function clear() {
    find.value = "";
    for (const chip of chips) chip.setAttribute("aria-pressed", "false");
    filter();
  }

  let due = 0;
  find.addEventListener("input", () => {
    clearTimeout(due);
    due = setTimeout(filter, 60);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      filter();
    });
  }
  all.addEventListener("click", () => {
    unfolded = !unfolded;
    all.setAttribute("aria-pressed", String(unfolded));
    all.textContent = unfolded ? "Fold all" : "Unfold all";
    for (const rule of rules) rule.node.open = unfolded;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
      event.preventDefault();
      find.focus();
    } else if (event.key === "Escape" && document.activeElement === find) {
      clear();
    }
  });
  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".copy");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(button.parentElement.querySelector("code"));
      button.textContent = "selected";
    }
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
  addEventListener("beforeprint", () => {
    for (const rule of rules) if (rule.node.dataset.verdict !== "PASS") rule.node.open = true;
  });
  addEventListener("hashchange", follow);
  form.hidden = false;
  shown.textContent = `${total} of ${total} checks shown`;
  follow();
  document.documentElement.dataset.ready = "1";
})();
