import { parsePairs } from '../kinds/flag-forms.ts'

interface TaintSetting {
  readonly key: string
  readonly value: string
  readonly effect: string
  readonly timeAdded: undefined
}

/** "key=value:Effect,key:Effect" to taints; of several uses of the flag the last counts. */
export function parseTaints(texts: readonly string[]): readonly TaintSetting[] {
  return (texts.at(-1) ?? '')
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const match = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(part.trim())
      if (match === null) throw new Error(`expected key=value:Effect in ${JSON.stringify(part)}`)
      const [, key = '', value = '', effect = ''] = match
      return { key, value, effect, timeAdded: undefined }
    })
}

interface MemoryReservation {
  readonly numaNode: number
  readonly limits: Readonly<Record<string, string>>
}

/** "0:memory=1Gi,hugepages-2M=2Gi;1:memory=1Gi" to reservations; uses of the flag add up. */
export function parseReservedMemory(texts: readonly string[]): readonly MemoryReservation[] {
  return texts
    .flatMap((text) => text.split(';'))
    .filter((part) => part !== '')
    .map((part) => {
      const match = /^(\d{1,9}):(.+)$/.exec(part.trim())
      if (match === null) throw new Error(`expected node:resource=quantity,… in ${JSON.stringify(part)}`)
      const limits = parsePairs(match[2] ?? '', { separator: '=' })
      if (new Set(limits.map(([name]) => name)).size < limits.length) {
        throw new Error(`expected each resource once in ${JSON.stringify(part)}`)
      }
      return { numaNode: Number(match[1]), limits: Object.fromEntries(limits) }
    })
}
