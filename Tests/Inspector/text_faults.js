// Finds texts of the page that lie on each other, and texts that something cuts off without an ellipsis.
(() => {
	const HIDDEN =
		"details:not([open]) > :not(summary), .hidden-text, .skip, #timeline, #top, #nav, title, option, svg, thead";
	const start = text => text.nodeValue.trim().slice(0, 30);
	const isShown = element => getComputedStyle(element).visibility === "visible" && !element.closest(HIDDEN);
	const texts = [];
	const faults = new Set();
	const walk = document.createTreeWalker(document.querySelector("#main"), NodeFilter.SHOW_TEXT);
	for (let text = walk.nextNode(); text; text = walk.nextNode()) {
		const element = text.parentElement;
		if (!text.nodeValue.trim() || !isShown(element)) continue;
		const range = document.createRange();
		range.selectNodeContents(text);
		for (const box of range.getClientRects()) {
			if (box.width < 2 || box.height < 2) continue;
			let isInFrame = false;
			for (let frame = element; frame && frame.id !== "main"; frame = frame.parentElement) {
				const { overflowX, overflowY, textOverflow } = getComputedStyle(frame);
				const outer = frame.getBoundingClientRect();
				const isOut = overflowX !== "visible" && (box.right > outer.right + 1.5 || box.left < outer.left - 1.5);
				const isBelow =
					overflowY !== "visible" && (box.bottom > outer.bottom + 1.5 || box.top < outer.top - 1.5);
				if (!isOut && !isBelow) continue;
				const canScroll = ["auto", "scroll"].includes(isOut ? overflowX : overflowY);
				if (!canScroll && textOverflow !== "ellipsis")
					faults.add(`cut off: ${start(text)} in ${frame.className}`);
				isInFrame = true;
				break;
			}
			if (box.right > innerWidth + 1 && !isInFrame) faults.add(`outside: ${start(text)} in ${element.className}`);
			if (!isInFrame) texts.push({ box, text, element });
		}
	}
	texts.sort((one, other) => one.box.top - other.box.top);
	texts.forEach((one, index) => {
		for (const other of texts.slice(index + 1)) {
			if (other.box.top > one.box.bottom - 3) break;
			const width = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
			const height = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
			if (one.text !== other.text && width > 3 && height > 4)
				faults.add(`overlap: ${start(one.text)} on ${start(other.text)} in ${other.element.className}`);
		}
	});
	return [...faults];
})();
