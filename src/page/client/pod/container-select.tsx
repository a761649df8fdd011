/** Chooses one of a pod's containers. */
export function ContainerSelect({
  names,
  value,
  isDisabled = false,
  onChoose,
}: {
  readonly names: readonly string[]
  readonly value: string
  readonly isDisabled?: boolean
  readonly onChoose: (name: string) => void
}) {
  return (
    <label>
      Container{' '}
      <select value={value} disabled={isDisabled} onChange={(event) => onChoose(event.currentTarget.value)}>
        {names.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  )
}
