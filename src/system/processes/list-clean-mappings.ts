interface Mapping {
  readonly start: bigint
  readonly bytes: bigint
}

// "7f12…-7f34… r-xp 00000000 fd:01 123   /usr/bin/node", then a line for each measure.
const HEAD = /^([\da-f]+)-([\da-f]+) (r-[-x]p) [\da-f]+ \S+ \d+ +\/.*$/
const HEADS = /^(?=[\da-f]+-[\da-f]+ )/m
// Less is not worth the call.
const WORTH_KILOBYTES = 256

/**
 * Mapped files of which the process has nothing of its own: code and constants, which the kernel reads again when they are wanted. Takes the text of
 * /proc/self/smaps. What the dynamic linker wrote to is left out: it cannot be had again.
 */
export function listCleanMappings(smaps: string): readonly Mapping[] {
  return smaps.split(HEADS).flatMap((text) => {
    const [head = '', ...lines] = text.split('\n')
    const [, start, end] = HEAD.exec(head) ?? []
    if (start === undefined || end === undefined) return []
    const kilobytes = (name: string) => {
      const line = lines.find((each) => each.startsWith(`${name}:`))
      return line === undefined ? undefined : Number.parseInt(line.slice(name.length + 1), 10)
    }
    if (kilobytes('Anonymous') !== 0 || kilobytes('Private_Dirty') !== 0) return []
    if ((kilobytes('Rss') ?? 0) < WORTH_KILOBYTES) return []
    return [{ start: BigInt(`0x${start}`), bytes: BigInt(`0x${end}`) - BigInt(`0x${start}`) }]
  })
}
