(() => {
	document.getAnimations().forEach((a) => a.finish()); // also what began since the picture was taken
	const rgba = (text) => {
		const n = text.match(/[\d.]+/g).map(Number);
		return [n[0], n[1], n[2], n[3] ?? 1];
	};
	const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
	const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
	const light = (c) => c.slice(0, 3).reduce((s, v, i) => s + linear(v / 255) * [0.2126, 0.7152, 0.0722][i], 0);
	const ratio = (a, b) => {
		const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
		return (x + 0.05) / (y + 0.05);
	};
	const behind = (e) => {
		const all = [];
		for (; e; e = e.parentElement) all.push(rgba(getComputedStyle(e).backgroundColor));
		return all.reverse().reduce((under, c) => over(c, under), [255, 255, 255, 1]);
	};
	const faint = new Map();
	let seen = 0;
	const hold = (what, color, back, least) => {
		seen++;
		const got = ratio(over(rgba(color), back), back);
		if (got < least) faint.set(what, got.toFixed(2) + " below " + least);
	};
	const start = (e) => e.outerHTML.slice(0, 80);
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const text = walker.currentNode.data.trim(), e = walker.currentNode.parentElement;
		const unseen = e.closest("script, noscript, title, option, .under, .hidden, .skip");
		if (!text || unseen || !e.checkVisibility()) continue;
		const style = getComputedStyle(e), size = parseFloat(style.fontSize);
		const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
		const color = e instanceof SVGElement ? style.fill : style.color;
		hold(start(e.closest("[class], [id]") || e) + " " + text.slice(0, 30), color, behind(e), large ? 3 : 4.5);
	}
	for (const e of document.querySelectorAll("input:not([type=range]), select, textarea")) {
		if (!e.checkVisibility()) continue;
		hold("edge of " + start(e), getComputedStyle(e).borderTopColor, behind(e.parentElement), 3);
		if (e.placeholder) hold("placeholder of " + start(e), getComputedStyle(e, "::placeholder").color, behind(e), 4.5);
	}
	for (const e of document.querySelectorAll("svg.lab .thread")) {
		hold("line of the lab", getComputedStyle(e).stroke, behind(e), 3);
	}
	return seen < 8 ? ["only " + seen + " pieces were looked at"] : [...faint].map((f) => f.join(": "));
})()
