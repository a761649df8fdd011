// Further apart than this two names are not a typing mistake.
const LARGEST_DISTANCE = 4

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [row, letter] of a.split('').entries()) {
    const current = [row + 1]
    for (const [column, other] of b.split('').entries()) {
      const replace = (previous[column] ?? 0) + (letter === other ? 0 : 1)
      current.push(Math.min(replace, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}

/** The known name that was probably meant, if any is near. */
function nearestName(name: string, known: Iterable<string>): string | undefined {
  const limit = Math.min(LARGEST_DISTANCE, Math.ceil(name.length / 3))
  let best: string | undefined
  let bestDistance = limit + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** ", did you mean …?" or nothing. */
export function suggestion(name: string, known: Iterable<string>, prefix = ''): string {
  const nearest = name.length > 100 ? undefined : nearestName(name, known)
  return nearest === undefined ? '' : `, did you mean ${prefix}${nearest}?`
}
