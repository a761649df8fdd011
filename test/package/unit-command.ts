/** What a unit and its drop-ins, in their order, run: as systemd reads them, in so far as units of kubelets use it. */
export function computeUnitCommand(
  units: readonly string[],
  readFile: (path: string) => string | undefined,
): readonly string[] {
  const variables = new Map<string, string>()
  const files: string[] = []
  let command = ''
  for (const line of units.flatMap((unit) => unit.split('\n'))) {
    const [, name, value = ''] = /^(Environment|EnvironmentFile|ExecStart)=(.*)$/.exec(line) ?? []
    if (name === 'Environment')
      for (const [, quoted, plain = ''] of value.matchAll(/"([^"]*)"|(\S+)/g)) set(quoted ?? plain)
    if (name === 'EnvironmentFile') files.push(value)
    if (name === 'ExecStart') command = value
  }
  // Files come after what the unit says itself.
  for (const path of files) {
    const text = readFile(path.replace(/^-/, ''))
    if (text === undefined && !path.startsWith('-')) throw new Error(`Cannot start the unit: there is no "${path}"`)
    for (const [, key, quoted] of (text ?? '').matchAll(/^(\w+)="?(.*?)"?$/gm)) set(`${key}=${quoted}`)
  }
  // A variable of its own becomes as many arguments as it has words.
  return command.split(' ').flatMap((word) => {
    if (!word.startsWith('$')) return [word]
    return (variables.get(word.slice(1)) ?? '').split(/\s+/).filter((part) => part !== '')
  })

  function set(assignment: string): void {
    const [, key = '', value = ''] = /^(\w+)=(.*)$/.exec(assignment) ?? []
    variables.set(key, value)
  }
}
