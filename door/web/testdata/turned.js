(() => {
	const found = [];
	let seen = 0;
	const block = (e) => {
		while (getComputedStyle(e).display === "inline") e = e.parentElement;
		return e;
	};
	const box = (n) => {
		const r = document.createRange();
		r.selectNodeContents(n);
		return r.getBoundingClientRect();
	};
	for (const e of document.querySelectorAll("main *, #notes *")) {
		if (block(e) !== e || e.closest("article, .snippet, svg")) continue;
		const name = e.className + " " + e.tagName + ": ";
		const walker = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), nodes = [];
		while (walker.nextNode()) {
			const n = walker.currentNode;
			if (n.data.trim() && block(n.parentElement) === e) nodes.push(n);
		}
		nodes.forEach((n, i) => {
			const at = n.data.indexOf("\u202e"), text = JSON.stringify(n.data);
			if (at < 0) return;
			seen++;
			if (!e.closest(".why") && !/^\u202emoc(\.md)?\s*$/.test(n.data.slice(at))) found.push(name + "one text: " + text);
			for (const next of nodes.slice(i + 1)) {
				const a = box(n), b = box(next), sameLine = b.top < a.bottom && b.bottom > a.top;
				if (sameLine && b.left < a.right - 1) found.push(name + JSON.stringify(next.data) + " is not right of " + text);
			}
		});
	}
	// In SVG each letter has its own place. A part of a label is right of the earlier parts.
	for (const e of document.querySelectorAll("svg.lab .node text")) {
		if (e.textContent.includes("moc")) seen++;
		let at = 0, edge = -Infinity;
		for (const part of e.textContent.split(/(^\d+\. | > | › )/)) {
			let left = Infinity, right = -Infinity;
			for (let i = at; i < at + part.length; i++) {
				const box = e.getExtentOfChar(i);
				if (box.width) [left, right] = [Math.min(left, box.x), Math.max(right, box.x + box.width)];
			}
			at += part.length;
			if (left < edge - 1) {
				found.push("label " + JSON.stringify(e.textContent) + ": " + JSON.stringify(part) + " is not to the right");
			}
			edge = Math.max(edge, right);
		}
	}
	return [String(seen), ...found];
})()
