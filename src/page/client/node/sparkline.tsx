const [WIDTH, HEIGHT, POINTS] = [64, 18, 30]

/** A small curve of the last minutes; the number beside it says the same. */
export function Sparkline({ values }: { readonly values: readonly (number | null)[] }) {
  const known = values.filter((value) => value !== null)
  if (known.length < 2) return <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true" />
  const highest = Math.max(...known, Number.MIN_VALUE) * 1.05
  const step = WIDTH / (POINTS - 1)
  const left = WIDTH - (values.length - 1) * step
  const points = values.flatMap((value, index) =>
    value === null
      ? []
      : [`${(left + index * step).toFixed(1)},${(HEIGHT - 1 - (value / highest) * (HEIGHT - 2)).toFixed(1)}`],
  )
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <polyline points={points.join(' ')} />
    </svg>
  )
}
