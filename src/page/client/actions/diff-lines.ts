/** A line of both texts, of the new one, or of the old one; null stands for lines in between that are the same. */
export type DiffLine = { readonly mark: ' ' | '+' | '-'; readonly text: string } | null

const CONTEXT = 3
// Two texts of 2000 lines that have nothing in common.
const MOST_CELLS = 4_000_000

/** What is different between two texts, line by line, with some lines around it. Empty when nothing is. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [toLines(before), toLines(after)]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1
  let same = 0
  while (same < Math.min(a.length, b.length) - start && a.at(-1 - same) === b.at(-1 - same)) same += 1
  const middle = compare(a.slice(start, a.length - same), b.slice(start, b.length - same))
  if (middle.length === 0) return []
  const keep = (text: string) => ({ mark: ' ', text }) as const
  return shorten([...a.slice(0, start).map(keep), ...middle, ...a.slice(a.length - same).map(keep)])
}

function toLines(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

/** By the longest common sequence. */
function compare(a: readonly string[], b: readonly string[]): readonly NonNullable<DiffLine>[] {
  const lost = (text: string) => ({ mark: '-', text }) as const
  const won = (text: string) => ({ mark: '+', text }) as const
  if (a.length * b.length > MOST_CELLS) return [...a.map(lost), ...b.map(won)]
  const width = b.length + 1
  const lengths = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        a[i] === b[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0)
  const lines: NonNullable<DiffLine>[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ mark: ' ', text: a[i] ?? '' })
      i += 1
      j += 1
    } else if (
      j === b.length ||
      (i < a.length && (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))
    ) {
      lines.push(lost(a[i] ?? ''))
      i += 1
    } else {
      lines.push(won(b[j] ?? ''))
      j += 1
    }
  }
  return lines
}

function shorten(lines: readonly NonNullable<DiffLine>[]): readonly DiffLine[] {
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ mark }) => mark !== ' '),
  )
  return lines.flatMap((line, at): readonly DiffLine[] => {
    if (isNear[at] === true) return [line]
    return at > 0 && isNear[at - 1] !== true ? [] : [null]
  })
}
