// Search: pages that have every word, the first twenty. The index is in the page, so that it works from disk.
document.documentElement.classList.add('script');
const index = JSON.parse(document.getElementById('index').textContent);
const input = document.getElementById('search');
const found = document.getElementById('found');
input.addEventListener('input', () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = index.filter((page) => words.every((word) => page.join(' ').toLowerCase().includes(word)));
  const items = (words.length === 0 ? [] : matching.slice(0, 20)).map(([title, address]) => {
    const link = Object.assign(document.createElement('a'), { href: address, textContent: title });
    const item = document.createElement('li');
    item.append(link);
    return item;
  });
  if (words.length > 0 && items.length === 0) items.push('Nothing found.');
  found.replaceChildren(...items);
});
