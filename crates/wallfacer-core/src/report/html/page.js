'use strict';
// Shows the run that stands in the block of data. Text is only ever set as text.
(() => {
  const run = JSON.parse(document.getElementById('data').textContent);
  const page = document.getElementById('page');
  const SEVERITIES = ['critical', 'high', 'medium', 'low'];
  const COLUMNS = [
    ['Ends or hangs', ['crash', 'hang', 'resource_growth']],
    ['Messages', ['protocol_error', 'conformance']],
    ['Errors', ['internal_error']],
    ['Schemas', ['schema_violation', 'accepted_invalid']],
    ['Injection', ['injection']],
    ['Secrets and effects', ['secret_leak', 'undeclared_behaviour']],
    ['State', ['state_leak', 'race', 'data_loss', 'sequence_failure']],
    ['Rules and changes', ['property_failure', 'drift']],
  ];

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name === 'on') for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
      else element.setAttribute(name, value === true ? '' : String(value));
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ''));
    return element;
  }
  function drawn(tag, attributes, ...children) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    element.append(...children);
    return element;
  }
  // What stands between backquotes is code.
  function prose(text) {
    const parts = (text ?? '').split('`');
    return parts.length % 2 ? parts.map((part, place) => place % 2 ? make('code', {}, part) : part) : [text];
  }
  function counted(count, noun) { return count === 1 ? `1 ${noun}` : `${count.toLocaleString('en')} ${noun}s`; }
  function table(caption, heads, rows) {
    const cell = (tag, value, scope) => {
      if (value instanceof Node && (value.tagName === 'TD' || value.tagName === 'TH')) return value;
      return make(tag, { class: typeof value === 'number' ? 'n' : null, scope }, typeof value === 'number' ? value.toLocaleString('en') : value ?? '');
    };
    return make('div', { class: 'tools', tabindex: 0, role: 'region', 'aria-label': caption },
      make('table', {}, make('caption', {}, caption),
        make('thead', {}, make('tr', {}, heads.map((head) => make('th', { scope: 'col' }, head)))),
        make('tbody', {}, rows.map((row) => make('tr', {}, row.map((value, place) => place === 0 ? cell('th', value, 'row') : cell('td', value)))))));
  }
  async function copy(text, button) {
    try { await navigator.clipboard.writeText(text); } catch {
      const area = make('textarea', {}); area.value = text; document.body.append(area); area.select();
      document.execCommand('copy'); area.remove();
    }
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  }
  function copyable(text, label) {
    const button = make('button', { type: 'button', 'aria-label': `Copy ${label}` }, 'Copy');
    button.addEventListener('click', () => copy(text, button));
    return make('div', { class: 'copy' }, make('pre', { tabindex: 0 }, text), button);
  }

  const state = { text: '', severity: '', kind: '', state: '', tool: '' };
  const isNew = new Set(run.earlier?.against?.new ?? []);

  function body(finding) {
    const kind = run.kinds[finding.kind] ?? {};
    const parts = [
      make('p', {}, make('strong', {}, 'What happened. '), prose(finding.what)),
      make('p', {}, make('strong', {}, 'Why it matters. '), prose([finding.particular, kind.why].filter(Boolean).join(' '))),
      make('p', {}, make('strong', {}, 'What to change. '), prose(finding.change)),
    ];
    if (finding.reason) parts.push(make('p', {}, make('strong', {}, 'Accepted because: '), finding.reason));
    if (finding.tools.length > 1) parts.push(make('p', {}, make('strong', {}, 'Tools: '), finding.tools.join(', ')));
    if (finding.request) parts.push(make('h3', {}, 'The smallest request'), make('pre', { tabindex: 0 }, finding.request));
    for (const evidence of finding.evidence) {
      parts.push(make('h3', {}, evidence.label), make('pre', { tabindex: 0 }, evidence.text + (evidence.cut ? '\n(cut)' : '')));
    }
    parts.push(make('p', {}, make('strong', {}, 'Proven '), finding.proven, '. ', make('span', { class: 'faint' }, prose(kind.proof))));
    parts.push(make('h3', {}, 'See it again'), copyable(finding.replay, 'the replay line'));
    const link = make('a', { href: `#f-${finding.id}` }, 'Link to this finding');
    const about = kind.page ? make('a', { href: kind.page, rel: 'noreferrer' }, `About ${finding.kind}`) : null;
    parts.push(make('p', { class: 'faint' }, link, ' · ', about, kind.references ? ` · ${kind.references.join(', ')}` : ''));
    return parts;
  }

  function entry(finding) {
    const summary = make('summary', {},
      make('span', { class: `sev ${finding.severity}` }, finding.severity),
      make('strong', {}, finding.heading),
      finding.state !== 'found' ? make('span', { class: 'tag' }, finding.state === 'flaky' ? 'not every time' : 'accepted') : null,
      isNew.has(finding.id) ? make('span', { class: 'tag' }, 'new') : null,
      make('span', { class: 'what' }, prose(finding.what)));
    const element = make('details', { class: 'finding', id: `f-${finding.id}` }, summary);
    // Made when it is opened: a page may have a thousand of them.
    element.addEventListener('toggle', () => {
      if (element.open && element.children.length === 1) element.append(make('div', { class: 'body' }, body(finding)));
    });
    const words = [finding.id, finding.kind, finding.severity, finding.heading, finding.what, finding.request ?? '', finding.tools.join(' '),
      finding.cause ?? ''].join(' ').toLowerCase();
    return { finding, element, words };
  }

  function findings() {
    const entries = run.findings.map(entry);
    const groups = new Map();
    for (const one of entries) {
      const cause = one.finding.cause ? `${one.finding.kind}: ${one.finding.cause}` : `${run.kinds[one.finding.kind]?.title ?? one.finding.kind}`;
      if (!groups.has(cause)) groups.set(cause, []);
      groups.get(cause).push(one);
    }
    const list = make('div', { id: 'list' });
    const shown = [];
    for (const [cause, members] of groups) {
      const heading = make('h3', {}, cause, make('span', { class: 'faint' }, ` (${members.length})`));
      const group = make('section', { 'aria-label': cause }, heading, members.map((one) => one.element));
      shown.push({ group, members });
      list.append(group);
    }
    const status = make('p', { role: 'status', 'aria-live': 'polite', class: 'faint', id: 'status' });
    function apply() {
      let visible = 0;
      const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
      for (const { group, members } of shown) {
        let some = 0;
        for (const { finding, element, words: text } of members) {
          const fits = (!state.severity || finding.severity === state.severity) && (!state.kind || finding.kind === state.kind)
            && (!state.state || finding.state === state.state || (state.state === 'new' && isNew.has(finding.id)))
            && (!state.tool || finding.tool === state.tool || finding.tools.includes(state.tool))
            && words.every((word) => text.includes(word));
          element.hidden = !fits;
          if (fits) some += 1;
        }
        group.hidden = some === 0;
        visible += some;
      }
      status.textContent = `${visible.toLocaleString('en')} of ${counted(entries.length, 'finding')} shown`;
    }
    const search = make('input', { type: 'search', id: 'search', placeholder: 'tool, kind, words, id' });
    search.addEventListener('input', () => { state.text = search.value; apply(); });
    const choose = (name, label, options) => {
      const select = make('select', { id: name }, make('option', { value: '' }, 'all'), options.map(([value, text]) => make('option', { value }, text)));
      select.addEventListener('change', () => { state[name] = select.value; apply(); });
      return make('label', {}, label, select);
    };
    const kinds = [...new Set(run.findings.map((finding) => finding.kind))].sort();
    const tools = [...new Set(run.findings.map((finding) => finding.tool).filter(Boolean))].sort();
    const states = [['found', 'proven'], ['flaky', 'not every time'], ['accepted', 'accepted']];
    if (isNew.size) states.push(['new', 'new']);
    const clear = make('button', { type: 'button' }, 'Clear');
    const filter = make('div', { class: 'filter', role: 'search' }, make('label', {}, 'Search (press /)', search),
      choose('severity', 'Severity', SEVERITIES.map((one) => [one, one])), choose('kind', 'Kind', kinds.map((one) => [one, one])),
      choose('tool', 'Tool', tools.map((one) => [one, one])), choose('state', 'State', states), clear);
    clear.addEventListener('click', () => {
      Object.keys(state).forEach((name) => { state[name] = ''; });
      search.value = '';
      filter.querySelectorAll('select').forEach((select) => { select.value = ''; });
      apply();
    });
    findings.choose = (name, value) => { state[name] = value; filter.querySelector(`#${name}`).value = value; apply(); };
    findings.clear = () => clear.click();
    apply();
    return make('section', { id: 'findings', 'aria-labelledby': 'findings-heading' }, make('h2', { id: 'findings-heading' }, 'Findings'),
      run.findings.length ? [filter, status, list] : make('p', {}, 'Nothing was found in what was tested.'));
  }

  function matrix() {
    const columns = COLUMNS.filter(([, kinds]) => kinds.some((kind) => run.kinds[kind]));
    const rows = run.tools.map((tool) => {
      const worked = tool.worked > 0;
      const cells = columns.map(([label, kinds]) => {
        const here = run.findings.filter((finding) => kinds.includes(finding.kind) && (finding.tool === tool.name || finding.tools.includes(tool.name)));
        if (here.length) {
          const button = make('button', { type: 'button', 'aria-label': `${counted(here.length, 'finding')} of ${tool.name}: ${label}` }, String(here.length));
          button.addEventListener('click', () => { findings.clear(); findings.choose('tool', tool.name); document.getElementById('findings').scrollIntoView(); });
          return make('td', { class: 'c bad' }, button);
        }
        const [sign, words] = worked ? ['·', 'nothing found'] : tool.calls ? ['?', 'only refusals'] : ['–', 'not called'];
        return make('td', { class: 'c', title: words }, make('span', { 'aria-label': words, role: 'img' }, sign));
      });
      const effects = tool.effects === null || tool.effects === undefined ? 'not watched' : tool.effects.length ? tool.effects.map(inWords).join(', ') : 'none seen';
      return [tool.name, tool.calls, make('td', { class: 'n' }, `${tool.worked}/${tool.valid}`), tool.refused, tool.errors, tool.failed, latency(tool), ...cells, effects];
    });
    const heads = ['Tool', 'Calls', 'Valid that worked', 'Refused', 'Tool errors', 'Failed', 'Answers took', ...columns.map(([label]) => label), 'Effects seen'];
    const caption = 'What was called, what worked, and what was found. A number counts findings; “·” is nothing found, “?” only refusals, “–” not called.';
    return make('section', { id: 'tools' }, make('h2', {}, 'Tools'), rows.length ? table(caption, heads, rows) : make('p', {}, 'What became of each tool is not known: no tool was called, or the run was stopped.'));
  }

  const VERBS = {
    read: 'read', write: 'wrote to', delete: 'deleted in', reach: 'reached a socket in', run: 'ran', connect: 'connected to', listen: 'listened at',
  };
  const PLACES = {
    canary: 'planted secrets', sensitive: 'sensitive files', own: 'its own directory', scope: 'a directory it was given',
    working_directory: 'the working directory', home: 'the home directory', temporary: 'temporary files', system: 'system files',
  };
  // "write own", as a lock file has it.
  function inWords(effect) {
    const [verb, ...what] = effect.split(' ');
    const isFile = ['read', 'write', 'delete', 'reach'].includes(verb);
    return `${VERBS[verb] ?? verb} ${(isFile && PLACES[what[0]]) || what.join(' ')}`;
  }

  const STEPS = ['1 ms', '3 ms', '10 ms', '30 ms', '100 ms', '300 ms', '1 s', '3 s'];
  // How long answers took, as bars from quick to slow; the words are for whoever cannot see them.
  function latency(tool) {
    const counts = tool.latency ?? [], all = counts.reduce((sum, count) => sum + count, 0);
    if (!all) return make('td', {}, '');
    let below = 0;
    const half = counts.findIndex((count) => { below += count; return below * 2 >= all; });
    const name = (place) => place < STEPS.length ? `below ${STEPS[place]}` : 'longer than 3 s';
    const words = counts.map((count, place) => count ? `${counted(count, 'answer')} ${name(place)}` : '').filter(Boolean).join(', ');
    const most = Math.max(...counts);
    const bars = counts.map((count, place) => drawn('rect', { class: 'bar', x: place * 8, width: 7, y: 20 - (count / most) * 19, height: (count / most) * 19 }));
    return make('td', {}, drawn('svg', { viewBox: '0 0 72 20', width: 72, height: 20, role: 'img', 'aria-label': words }, drawn('title', {}, words), ...bars), ` half ${name(half)}`);
  }

  function timeline() {
    if (!run.timeline.length) return null;
    const wide = 1000, high = 120, end = Math.max(run.duration, run.timeline[run.timeline.length - 1].ms, 1);
    const most = Math.max(...run.timeline.map((moment) => moment.calls), 1);
    const x = (ms) => (ms / end) * (wide - 20) + 10;
    const y = (calls) => high - 20 - (calls / most) * (high - 35);
    const points = run.timeline.map((moment) => `${x(moment.ms).toFixed(1)},${y(moment.calls).toFixed(1)}`).join(' ');
    const dots = run.timeline.filter((moment) => moment.event === 'finding').map((moment) =>
      drawn('circle', { class: 'dot', cx: x(moment.ms), cy: y(moment.calls), r: 5 }, drawn('title', {}, moment.text)));
    const starts = run.timeline.filter((moment) => moment.event === 'start').map((moment) =>
      drawn('line', { class: 'start', x1: x(moment.ms), x2: x(moment.ms), y1: high - 20, y2: high - 14 }, drawn('title', {}, moment.text)));
    const picture = drawn('svg', { viewBox: `0 0 ${wide} ${high}`, role: 'img', 'aria-label': 'Calls over time, with a dot for each finding and a mark below for servers that were started', preserveAspectRatio: 'none' },
      drawn('polyline', { class: 'curve', points }), ...starts, ...dots,
      drawn('text', { x: 10, y: high - 5 }, '0 s'), drawn('text', { x: wide - 60, y: high - 5 }, `${(end / 1000).toFixed(1)} s`));
    const rows = run.timeline.map((moment) => [`${(moment.ms / 1000).toFixed(1)} s`, moment.event, moment.text, moment.calls]);
    return make('section', { id: 'timeline' }, make('h2', {}, 'Timeline'),
      make('p', { class: 'faint' }, `Calls over time. A dot is a finding${starts.length ? ', a mark below is a start of the server' : ''}.`), picture,
      make('details', {}, make('summary', {}, 'The same as a table'), table('What happened when', ['When', 'What', '', 'Calls so far'], rows)));
  }

  function earlier() {
    const against = run.earlier?.against, past = run.earlier?.past ?? [];
    if (!against && past.length < 2) return null;
    const parts = [make('h2', {}, 'Compared with earlier runs')];
    if (against) {
      parts.push(make('p', {}, `Against ${against.name} of ${against.started}: ${against.new.length} new, ${against.gone.length} not seen any more, ${against.same} the same.`),
        make('p', { class: 'faint' }, against.verdict));
      if (!against.whole) parts.push(make('p', {}, 'This run was cut short: what was not seen may still be there.'));
      if (against.gone.length) parts.push(make('h3', {}, 'Not seen any more'), make('ul', {}, against.gone.map((gone) => make('li', {}, `${gone.severity} ${gone.heading} (${gone.id})`))));
    }
    if (past.length > 1) {
      const most = Math.max(...past.map((one) => one.findings), 1), wide = 1000, high = 120, step = wide / past.length;
      const bars = past.map((one, place) => drawn('rect', { class: `bar ${one.word}`, x: place * step + 2, width: Math.max(step - 4, 2),
        y: high - 4 - (one.findings / most) * (high - 20), height: (one.findings / most) * (high - 20) + 2 }, drawn('title', {}, `${one.started}: ${one.findings} findings, ${one.word}`)));
      parts.push(make('h3', {}, 'Findings of each stored run'), drawn('svg', { viewBox: `0 0 ${wide} ${high}`, role: 'img', 'aria-label': 'Findings of each stored run', preserveAspectRatio: 'none' }, ...bars),
        make('details', {}, make('summary', {}, 'The same as a table'), table('Stored runs', ['Run', 'Started', 'Verdict', 'Findings', 'Accepted', 'Tools that worked', 'Calls'],
          past.map((one) => [one.id, one.started, one.word, one.findings, one.accepted, `${one.tools_worked} of ${one.tools}`, one.calls]))));
    }
    return make('section', { id: 'earlier' }, parts);
  }

  function rest() {
    const gaps = make('section', { id: 'not-tested' }, make('h2', {}, 'Not tested'), run.gaps.length
      ? make('ul', {}, run.gaps.map((gap) => make('li', {}, make('strong', {}, prose(gap.why)), `: ${gap.what.join(', ')}`)))
      : make('p', {}, 'Everything that was planned was tested.'));
    const notes = run.notes.length ? make('section', { id: 'notes' }, make('h2', {}, 'Notes'),
      make('ul', {}, run.notes.map((note) => make('li', {}, prose(note))))) : null;
    const facts = run.facts.filter(([, value]) => value).map(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]).flat();
    const remarks = run.remarks.map((remark) => make('li', {}, remark));
    return [gaps, notes, make('section', { id: 'run' }, make('h2', {}, 'The run'), make('dl', {}, facts), remarks.length ? make('ul', {}, remarks) : null)];
  }

  function head() {
    const theme = make('button', { type: 'button' }, 'Light or dark');
    theme.addEventListener('click', () => {
      const dark = getComputedStyle(document.documentElement).colorScheme === 'dark';
      document.documentElement.dataset.theme = dark ? 'light' : 'dark';
    });
    const [word, ...said] = run.verdict.split(' · ');
    return make('header', {}, run.warning ? make('p', { class: 'warning' }, run.warning) : null, make('h1', {}, run.title ?? run.server), run.title ? make('p', { class: 'faint' }, run.server) : null,
      make('p', { class: 'verdict' }, make('span', { class: `word ${run.word}` }, word), said.join(' · ')),
      make('nav', { 'aria-label': 'Sections' }, [['findings', 'Findings'], ['tools', 'Tools'], ['timeline', 'Timeline'], ['earlier', 'Earlier runs'], ['not-tested', 'Not tested'], ['run', 'The run']]
        .filter(([id]) => document.getElementById(id) || id !== 'timeline' && id !== 'earlier' || sections.has(id)).map(([id, text]) => make('a', { href: `#${id}` }, text)), theme));
  }

  const sections = new Set();
  const parts = [findings(), matrix(), timeline(), earlier(), ...rest()].filter(Boolean);
  parts.forEach((part) => sections.add(part.id));
  page.append(head(), ...parts);

  function follow() {
    const id = decodeURIComponent(location.hash.slice(1));
    if (!id.startsWith('f-')) return;
    const element = document.getElementById(id);
    if (!element) return;
    if (element.hidden) findings.clear();
    element.open = true;
    element.scrollIntoView({ block: 'start' });
    element.querySelector('summary').focus({ preventScroll: true });
  }
  addEventListener('hashchange', follow);
  // The browser goes to the place itself once it has loaded the page, and takes the focus with it.
  addEventListener('load', () => setTimeout(follow, 0));
  addEventListener('keydown', (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '');
    if (event.key === '/' && !typing) { event.preventDefault(); document.getElementById('search')?.focus(); }
    if (typing || (event.key !== 'j' && event.key !== 'k')) return;
    const all = [...document.querySelectorAll('details.finding:not([hidden]) > summary')].filter((one) => one.offsetParent);
    const here = all.indexOf(document.activeElement);
    all[Math.min(Math.max(here + (event.key === 'j' ? 1 : -1), 0), all.length - 1)]?.focus();
  });
})();
