const NUMBER = /^[1-9]\d*$/

/** Whether a version comes after another one. Those that are no numbers only tell whether they are the same. */
export function isNewerVersion(told: string, known: string): boolean {
  if (!NUMBER.test(told) || !NUMBER.test(known)) return told !== known
  return told.length === known.length ? told > known : told.length > known.length
}
