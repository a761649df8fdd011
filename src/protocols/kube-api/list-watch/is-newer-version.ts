const NUMBER = /^[1-9]\d*$/

/** Whether a version comes after another one. Those that are no numbers only tell whether they are the same. */
export function isNewerVersion(reported: string, known: string): boolean {
  if (!NUMBER.test(reported) || !NUMBER.test(known)) return reported !== known
  return reported.length === known.length ? reported > known : reported.length > known.length
}
