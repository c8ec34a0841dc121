/* Search for pages that were opened from a file, where browsers allow neither workers nor JSON. */
if (window.location.protocol === "file:") {
  const script = document.createElement("script");
  script.src = `${base_url}/search/pages.js`;
  script.onload = () => {
    const query = document.getElementById("mkdocs-search-query");
    const results = document.getElementById("mkdocs-search-results");
    const show = () => {
      const words = query.value.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
      const score = (page) => {
        const title = page.title.toLowerCase(), text = page.text.toLowerCase();
        if (!words.every((word) => title.includes(word) || text.includes(word))) return 0;
        return words.reduce((sum, word) =>
          sum + 20 * title.includes(word) + Math.min(text.split(word).length, 9), 0);
      };
      const found = words.length ? window.searchPages.map((page) => [score(page), page])
        .filter(([points]) => points > 0).sort((a, b) => b[0] - a[0]).slice(0, 20) : [];
      results.replaceChildren(...found.map(([, page]) => {
        const item = document.createElement("article");
        const link = document.createElement("a");
        link.href = `${base_url}/${page.location}`;
        link.textContent = page.title;
        const place = page.text.toLowerCase().indexOf(words[0]);
        const text = document.createElement("p");
        text.textContent = page.text.slice(Math.max(0, place - 60), place + 160);
        item.append(link, text);
        return item;
      }));
      if (words.length && !found.length) results.textContent = "No results found";
    };
    query.addEventListener("input", show);
    query.form.addEventListener("submit", (event) => event.preventDefault());
  };
  document.head.append(script);
}
