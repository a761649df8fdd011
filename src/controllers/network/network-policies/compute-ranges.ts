import type { IPBlock } from '../../../model/generated/api-groups.ts'
import { formatIp, parseCidr } from '../../../model/text/ip-number.ts'
import type { IpFamily } from '../../../model/text/ip-number.ts'

/** From one number to another, both of them included. */
type Span = readonly [first: bigint, last: bigint]

/** The addresses of blocks without their exceptions, as spans of one family that do not touch each other. */
export function computeBlockSpans(blocks: readonly IPBlock[], family: IpFamily): readonly Span[] {
  return mergeSpans(
    blocks.flatMap(({ cidr, except = [] }) => {
      const whole = spanOf(cidr, family)
      if (whole === undefined) return []
      const holes = except.flatMap((range) => {
        const hole = spanOf(range, family)
        return hole === undefined ? [] : [hole]
      })
      return holes.reduce<readonly Span[]>((left, hole) => left.flatMap((span) => withoutHole(span, hole)), [whole])
    }),
  )
}

/** In ascending order, and as few as possible: nftables takes no two that overlap. */
export function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const merged: Span[] = []
  for (const [first, last] of spans.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const before = merged.at(-1)
    if (before !== undefined && first <= before[1] + 1n) merged.splice(-1, 1, [before[0], max(before[1], last)])
    else merged.push([first, last])
  }
  return merged
}

export function formatAddressSpan([first, last]: Span, family: IpFamily): string {
  const text = formatIp({ family, value: first })
  return first === last ? text : `${text}-${formatIp({ family, value: last })}`
}

export function formatPortSpan([first, last]: Span): string {
  return first === last ? String(first) : `${first}-${last}`
}

function spanOf(range: string, family: IpFamily): Span | undefined {
  const cidr = parseCidr(range)
  if (cidr?.base.family !== family) return undefined
  const { base, bits } = cidr
  return [base.value, base.value + (1n << BigInt(bits)) - 1n]
}

function withoutHole([first, last]: Span, [from, to]: Span): readonly Span[] {
  if (to < first || from > last) return [[first, last]]
  const before: readonly Span[] = from > first ? [[first, from - 1n]] : []
  const after: readonly Span[] = to < last ? [[to + 1n, last]] : []
  return [...before, ...after]
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
