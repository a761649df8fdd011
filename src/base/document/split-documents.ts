const SEPARATOR = /^---(?:\s.*)?$/

/** The YAML documents of a text, each with the number of lines before it. One of comments alone says nothing and is left out. */
export function splitDocuments(text: string): readonly { readonly text: string; readonly line: number }[] {
  const documents: { text: string; line: number }[] = []
  let lines: string[] = []
  let start = 0
  const end = (next: number) => {
    if (lines.some((line) => line.trim() !== '' && !line.trimStart().startsWith('#')))
      documents.push({ text: lines.join('\n'), line: start })
    lines = []
    start = next
  }
  for (const [index, line] of text.split('\n').entries()) {
    if (SEPARATOR.test(line.trimEnd())) end(index + 1)
    else lines.push(line)
  }
  end(0)
  return documents
}
