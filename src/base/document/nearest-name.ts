// More typing errors than this, or than half of the name, and a suggestion is a guess.
const MAX_EDITS = 3
const LONGEST_NAME = 100

/** The known name that a misspelt one most likely means. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let fewest = Math.min(MAX_EDITS, Math.floor(name.length / 2)) + 1
  if (name.length > LONGEST_NAME) return undefined
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= fewest) continue
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (edits >= fewest) continue
    nearest = candidate
    fewest = edits
  }
  return nearest
}

/** How many letters must be changed, added or dropped to make one text the other. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const change = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[right.length] ?? 0
}
