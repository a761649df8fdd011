/** Whole numbers as a Job's status writes them: "0,2-4,7"; those that make no sense, and those beyond the limit, are left out. */
export function parseIndexes(text: string | undefined, limit: number): Set<number> {
  const indexes = new Set<number>()
  for (const part of (text ?? '').split(',')) {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? []
    if (first === undefined) continue
    for (let index = Number(first); index <= Math.min(Number(last), limit - 1); index += 1) indexes.add(index)
  }
  return indexes
}

/** Three and more in a row are a range; two are written one by one. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const ordered = [...indexes].sort((a, b) => a - b)
  const parts: string[] = []
  for (let begin = 0; begin < ordered.length;) {
    let end = begin
    while (ordered[end + 1] === (ordered[end] ?? 0) + 1) end += 1
    const [first, last] = [ordered[begin], ordered[end]]
    parts.push(end === begin ? String(first) : `${first}${end === begin + 1 ? ',' : '-'}${last}`)
    begin = end + 1
  }
  return parts.join(',')
}
