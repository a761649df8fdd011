/** A number, or a part of a total such as "25%", of which a rest counts as a whole one or not at all. */
export function resolveIntOrPercent(
  value: number | string | undefined,
  total: number,
  rounding: 'up' | 'down',
): number {
  if (value === undefined) return 0
  if (typeof value === 'number') return value
  const percent = /^(\d+)%$/.exec(value)?.[1]
  if (percent === undefined) return 0
  const exact = (Number(percent) * total) / 100
  return rounding === 'up' ? Math.ceil(exact) : Math.floor(exact)
}
