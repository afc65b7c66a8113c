(() => {
	const found = [];
	const controls = "a[href], button, input, select, summary, svg [role=button]";
	const all = [...document.querySelectorAll(controls)].filter((e) => {
		if (!e.checkVisibility() || e.closest(".hidden, .skip, dialog:not([open]), article")) return false;
		const c = e.closest(".lab-controls")?.getBoundingClientRect(), b = e.getBoundingClientRect();
		return !c || (b.top >= c.top && b.bottom <= c.bottom); // sliders that are scrolled out of sight do not count
	});
	const box = (e) => {
		const b = e.getBoundingClientRect(), h2 = e.closest(".result h2")?.getBoundingClientRect(); // long titles are folded
		return h2 ? new DOMRect(b.x, b.y, b.width, Math.min(b.bottom, h2.bottom + 3) - b.y) : b;
	};
	const middle = (e) => {
		const b = box(e);
		return [b.x + b.width / 2, b.y + b.height / 2];
	};
	const small = (e) => Math.min(box(e).width, box(e).height) < 23.9;
	const clamp = (v, low, high) => Math.max(low, Math.min(v, high));
	for (const e of all.filter(small)) {
		const [x, y] = middle(e);
		for (const other of all) {
			if (other === e || e.contains(other) || other.contains(e)) continue;
			const b = box(other), [ox, oy] = middle(other);
			const toBox = Math.hypot(x - clamp(x, b.left, b.right), y - clamp(y, b.top, b.bottom));
			const near = small(other) ? Math.hypot(x - ox, y - oy) < 24 : toBox < 12;
			if (near) {
				found.push("too small: " + e.outerHTML.slice(0, 90) + " beside " + other.outerHTML.slice(0, 60));
				break;
			}
		}
	}
	const headings = [...document.querySelectorAll("main h1, main h2, main h3, main h4")].filter((e) => !e.closest("nav"));
	const levels = headings.map((e) => Number(e.tagName[1]));
	const skips = levels.some((n, i) => i && n > levels[i - 1] + 1);
	if (levels.filter((n) => n === 1).length !== 1 || skips) found.push("headings: " + levels);
	const width = document.documentElement.scrollWidth;
	if (width > innerWidth) found.push("the page is " + width + " wide");
	for (const e of document.querySelectorAll(".lab-controls")) {
		if (e.scrollWidth > e.clientWidth) found.push("the sliders run to both sides");
	}
	return found;
})()
