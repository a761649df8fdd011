/** A place as people count: both from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** Turns offsets of a text into places. The lines are found once: a text can be large and wrong in many places. */
export class TextPlaces {
  readonly #text: string
  #lineStarts: readonly number[] | undefined

  constructor(text: string) {
    this.#text = text
  }

  at(offset: number): Place {
    this.#lineStarts ??= findLineStarts(this.#text)
    const bounded = Math.min(offset, this.#text.length)
    let low = 0
    let high = this.#lineStarts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#lineStarts[middle] ?? 0) <= bounded) low = middle
      else high = middle
    }
    return { line: low + 1, column: bounded - (this.#lineStarts[low] ?? 0) + 1 }
  }
}

function findLineStarts(text: string): readonly number[] {
  const starts = [0]
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1)
  return starts
}
