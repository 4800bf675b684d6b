// The page is whole without this script; it adds exploring, sorting, filtering and the choice of a theme.
(() => {
  const root = document.documentElement;
  root.classList.add('script');
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // One tip for charts, marks and headings, kept within the window.
  const tip = document.getElementById('tip');
  let owner = null;
  let boxOf = () => new DOMRect();
  function placeTip() {
    const box = boxOf();
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, box.left + box.width / 2 - width / 2), innerWidth - width - 8);
    const above = box.top - height - 10;
    tip.style.left = `${left}px`;
    tip.style.top = `${above >= 8 ? above : Math.min(box.bottom + 10, innerHeight - height - 8)}px`;
  }
  function showTip(text, findBox, holder) {
    owner = holder;
    boxOf = findBox;
    tip.textContent = text;
    tip.hidden = false;
    placeTip();
  }
  function hideTip() {
    owner = null;
    tip.hidden = true;
  }
  const tipped = (event) => (event.target instanceof Element ? event.target.closest('[data-tip]') : null);
  for (const kind of ['pointerover', 'focusin']) {
    document.addEventListener(kind, (event) => {
      const holder = tipped(event);
      if (holder) showTip(holder.dataset.tip, () => holder.getBoundingClientRect(), holder);
    });
  }
  for (const kind of ['pointerout', 'focusout']) {
    document.addEventListener(kind, (event) => {
      if (tipped(event) !== null && tipped(event) === owner) hideTip();
    });
  }
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') hideTip();
  });
  // Going to something with the Tab key scrolls it into view: its tip goes along. The pointer's does not.
  addEventListener(
    'scroll',
    () => {
      if (owner === null) return;
      if (owner === document.activeElement) placeTip();
      else hideTip();
    },
    { passive: true },
  );

  // Charts: the figure nearest to the pointer speaks; arrow keys go from one to the next.
  const NEAR = 36;
  for (const plot of all('.plot')) {
    let places = null;
    let at = -1;
    const measured = () => {
      places ??= all('[role="graphics-symbol"][aria-label]', plot)
        .map((mark) => ({
          mark,
          box: mark.getBoundingClientRect(),
          isBar: mark.getBoundingClientRect().width > 14,
        }))
        .filter(({ box }) => box.width > 0)
        .sort(
          (a, b) => a.box.left + a.box.width / 2 - (b.box.left + b.box.width / 2) || a.box.top - b.box.top,
        );
      return places;
    };
    const forget = () => {
      places = null;
      for (const mark of all('.at', plot)) mark.classList.remove('at');
      if (owner === plot) hideTip();
    };
    const point = (place) => {
      for (const mark of all('.at', plot)) mark.classList.remove('at');
      place.mark.classList.add('at');
      const findBox = () => {
        const box = place.mark.getBoundingClientRect();
        // Of a bar, its top is what matters.
        return place.isBar ? new DOMRect(box.left, box.top, box.width, 12) : box;
      };
      showTip(place.mark.getAttribute('aria-label'), findBox, plot);
    };
    const distance = ({ box }, x, y) =>
      Math.hypot(box.left + box.width / 2 - x, box.top + box.height / 2 - y);
    const nearest = (x, y) => {
      let best = null;
      let least = NEAR;
      for (const place of measured()) {
        if (place.isBar) continue;
        const away = distance(place, x, y);
        if (away < least) [best, least] = [place, away];
      }
      if (best !== null && least < 12) return best;
      const isIn = ({ box }) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
      return measured().find((place) => place.isBar && isIn(place)) ?? best;
    };
    plot.addEventListener('pointerenter', forget);
    plot.addEventListener('pointermove', (event) => {
      const place = nearest(event.clientX, event.clientY);
      if (place) point(place);
      else forget();
    });
    plot.addEventListener('pointerdown', (event) => {
      forget();
      const place = nearest(event.clientX, event.clientY);
      if (place) point(place);
    });
    plot.addEventListener('pointerleave', forget);
    plot.addEventListener('blur', forget);
    plot.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const marks = measured();
      if ((step === undefined && event.key !== 'Home' && event.key !== 'End') || marks.length === 0) return;
      event.preventDefault();
      if (event.key === 'Home') at = 0;
      else if (event.key === 'End') at = marks.length - 1;
      else at = (at + step + marks.length) % marks.length;
      if (at < 0) at = 0;
      point(marks[at]);
    });
  }

  // Shows the rows that fit, where there is a table of cases.
  let filter = () => undefined;

  // Servers: hidden in charts and table alike by click, brought out by hovering and focus.
  const hidden = new Set();
  for (const chip of all('.chip')) {
    const { server } = chip.dataset;
    chip.addEventListener('click', () => {
      if (!hidden.delete(server)) hidden.add(server);
      chip.setAttribute('aria-pressed', String(!hidden.has(server)));
      document.body.classList.toggle(`hide-${server}`, hidden.has(server));
      document.body.classList.remove(`bring-${server}`);
      filter();
    });
    for (const kind of ['pointerenter', 'focus']) {
      chip.addEventListener(kind, () => {
        if (!hidden.has(server)) document.body.classList.add(`bring-${server}`);
      });
    }
    for (const kind of ['pointerleave', 'blur']) {
      chip.addEventListener(kind, () => document.body.classList.remove(`bring-${server}`));
    }
  }

  // The table of cases: reports of other experiments have none.
  function exploreCases(table) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const fields = all('[data-filter]');
    const count = document.querySelector('[data-count]');
    const empty = document.querySelector('.empty');
    filter = () => {
      const wanted = Object.fromEntries(
        fields.map((field) => [field.dataset.filter, field.value.trim().toLowerCase()]),
      );
      const words = wanted.text.split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        const fits =
          !hidden.has(row.dataset.server) &&
          words.every((word) => text.includes(word)) &&
          Object.entries(JSON.parse(row.dataset.filters)).every(
            ([name, value]) => !wanted[name] || value.toLowerCase() === wanted[name],
          );
        row.hidden = !fits;
        if (fits) shown += 1;
      }
      count.textContent = shown === rows.length ? `${shown} cases` : `${shown} of ${rows.length} cases`;
      empty.hidden = shown > 0;
    };
    for (const field of fields) field.addEventListener('input', filter);
    filter();

    const headings = [...table.tHead.rows[0].cells];
    const sortBox = document.querySelector('[data-sort-by]');
    function sort(index, direction) {
      for (const heading of headings) heading.removeAttribute('aria-sort');
      if (index !== null)
        headings[index].setAttribute('aria-sort', direction > 0 ? 'ascending' : 'descending');
      const isNumber = index !== null && headings[index].classList.contains('number');
      const keyOf = (row) => (index === null ? row.dataset.order : row.cells[index].dataset.sort);
      const ordered = [...rows].sort((a, b) => {
        const [left, right] = [keyOf(a), keyOf(b)];
        // What has no figure stands at the end either way.
        if (left === '' || right === '') return (left === '' ? 1 : 0) - (right === '' ? 1 : 0);
        const difference =
          isNumber || index === null ? Number(left) - Number(right) : left.localeCompare(right, 'en');
        return direction * difference || a.dataset.order - b.dataset.order;
      });
      body.append(...ordered);
      sortBox.value = index === null ? '' : String(index);
    }
    for (const [index, heading] of headings.entries()) {
      heading.querySelector('button').addEventListener('click', () => {
        const now = heading.getAttribute('aria-sort');
        // First click: the largest number or the first word on top; third click: back to the plan.
        const first = heading.classList.contains('number') ? 'descending' : 'ascending';
        if (now === null) sort(index, first === 'ascending' ? 1 : -1);
        else if (now === first) sort(index, first === 'ascending' ? -1 : 1);
        else sort(null, 1);
      });
    }
    sortBox.addEventListener('change', () => {
      const index = sortBox.value === '' ? null : Number(sortBox.value);
      sort(index, index !== null && headings[index].classList.contains('number') ? -1 : 1);
    });
  }
  const cases = document.querySelector('table.cases');
  if (cases !== null) exploreCases(cases);

  // A link to a case's trials opens them.
  function openTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.tagName === 'DETAILS') target.open = true;
    target?.scrollIntoView();
  }
  addEventListener('hashchange', openTarget);
  if (location.hash !== '') openTarget();

  // Theme: as the system has it, light, dark.
  const themes = ['system', 'light', 'dark'];
  const themeButton = document.querySelector('[data-theme-button]');
  themeButton.addEventListener('click', () => {
    const next = themes[(themes.indexOf(root.dataset.theme ?? 'system') + 1) % themes.length];
    if (next === 'system') delete root.dataset.theme;
    else root.dataset.theme = next;
    themeButton.textContent = `Theme: ${next}`;
  });

  for (const button of all('[data-copy]')) {
    button.addEventListener('click', async () => {
      const source = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = 'Copied';
      } catch {
        // Pages from disk may not have a clipboard: select, so that Ctrl-C is all that is left to do.
        getSelection().selectAllChildren(source);
        button.textContent = 'Ctrl-C';
      }
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2000);
    });
  }
})();
