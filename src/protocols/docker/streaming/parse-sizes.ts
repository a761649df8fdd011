import { isRecord } from '../../../base/document/is-record.ts'

export interface TerminalSize {
  readonly width: number
  readonly height: number
}

// One size is some 30 bytes.
const LONGEST = 4096

/** The sizes that a client sends: objects of JSON, with or without lines between them, cut anywhere. */
export async function* parseSizes(source: AsyncIterable<Buffer>): AsyncGenerator<TerminalSize, void> {
  let text = ''
  for await (const chunk of source) {
    text += chunk.toString()
    for (let end = text.indexOf('}'); end !== -1; end = text.indexOf('}')) {
      const size = parse(text.slice(0, end + 1))
      text = text.slice(end + 1)
      if (size !== undefined) yield size
    }
    if (text.length > LONGEST) text = ''
  }
}

function parse(text: string): TerminalSize | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isRecord(value)) return undefined
    const { Width: width, Height: height } = value
    const isSize = (number: unknown): number is number => typeof number === 'number' && number > 0 && number <= 65_535
    return isSize(width) && isSize(height) ? { width, height } : undefined
  } catch {
    return undefined
  }
}
