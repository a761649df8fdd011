import { TextError } from './parse-text.ts'

/** A document of a file. */
export interface SplitDocument {
  readonly bytes: Uint8Array
  /** How many lines are before it. */
  readonly line: number
}

const TAB = 9
const NEW_LINE = 10
const RETURN = 13
const SPACE = 32
const HASH = 35
const DASH = 45
const SEPARATOR_LENGTH = 3
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/**
 * The YAML documents of a file. One of comments alone says nothing and is left out, but counts. Where there are more than `most`, a TextError says so
 * before any of them is parsed: a file of some megabytes can hold a million.
 */
export function splitDocuments(file: Uint8Array, most: number): readonly SplitDocument[] {
  const bytes = withoutByteOrderMark(file)
  const documents: SplitDocument[] = []
  let count = isSeparator(bytes, 0) ? 0 : 1
  let start = 0
  let line = 0
  const endAt = (end: number) => {
    if (hasContent(bytes, start, end)) documents.push({ bytes: bytes.subarray(start, end), line })
    line += countLines(bytes, start, end)
    start = end
  }
  for (let at = 0; at < bytes.length; at = findLineEnd(bytes, at)) {
    if (!isSeparator(bytes, at)) continue
    endAt(at)
    if (++count > most)
      throw new TextError(`document ${most + 1} starts here, expected at most ${most} in a file`, {
        line: line + 1,
        column: 1,
      })
    // What stands on the line of a separator belongs to the document, which the parser reads with the separator before it.
    const next = findLineEnd(bytes, at)
    if (hasContent(bytes, at, next)) continue
    start = next
    line++
  }
  endAt(bytes.length)
  return documents
}

function withoutByteOrderMark(file: Uint8Array): Uint8Array {
  return BYTE_ORDER_MARK.every((byte, index) => file[index] === byte) ? file.subarray(BYTE_ORDER_MARK.length) : file
}

/** Where the next line begins. Byte by byte, which is faster than indexOf where the lines are short. */
function findLineEnd(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== NEW_LINE) at++
  return Math.min(at + 1, bytes.length)
}

/** At the beginning of a line. */
function isSeparator(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] !== DASH || bytes[at + 1] !== DASH || bytes[at + 2] !== DASH) return false
  const next = at + SEPARATOR_LENGTH
  return next >= bytes.length || isBlank(bytes[next])
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === NEW_LINE || byte === TAB || byte === RETURN
}

/** Anything but white space, comments and a separator at its beginning. */
function hasContent(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = isSeparator(bytes, start) ? start + SEPARATOR_LENGTH : start; at < end; at++) {
    if (bytes[at] === HASH) at = findLineEnd(bytes, at) - 1
    else if (!isBlank(bytes[at])) return true
  }
  return false
}

function countLines(bytes: Uint8Array, start: number, end: number): number {
  let count = 0
  for (let at = start; at < end; at++) if (bytes[at] === NEW_LINE) count++
  return count
}
