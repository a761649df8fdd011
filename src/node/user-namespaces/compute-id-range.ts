/** A run of ids of the node: for users and for groups alike. */
export interface IdRange {
  readonly first: number
  readonly length: number
}

export interface IdRangeInput {
  readonly idsPerPod: number
  readonly maxPods: number
  /** What getsubids says about users and about groups; undefined where no ids are set aside by name. */
  readonly subordinate: { readonly uids: string; readonly gids: string } | undefined
}

const SETTINGS = 'the subordinate ids of user "kubelet"'

/** The ids that pods with a user namespace share: those set aside for the user "kubelet", else the ones after the node's own. */
export function computeIdRange({ idsPerPod, maxPods, subordinate }: IdRangeInput): IdRange {
  if (subordinate === undefined) return { first: idsPerPod, length: idsPerPod * maxPods }
  const range = parseSubordinateIds(subordinate.uids)
  const groups = parseSubordinateIds(subordinate.gids)
  if (range.first !== groups.first || range.length !== groups.length) {
    throw settingsError(`those of users (${show(range)}) and of groups (${show(groups)}) differ, expected the same`)
  }
  // The node's own ids are below the first block.
  if (range.first < idsPerPod) throw settingsError(`they begin at ${range.first}, expected ${idsPerPod} or more`)
  for (const [name, value] of Object.entries(range)) {
    if (value % idsPerPod !== 0) throw settingsError(`${name} is ${value}, expected a multiple of ${idsPerPod}`)
  }
  if (range.length < idsPerPod * maxPods) {
    throw settingsError(`there are ${range.length}, expected at least ${idsPerPod * maxPods} for ${maxPods} pods`)
  }
  return range
}

/** One line such as "0: kubelet 65536 7208960". */
function parseSubordinateIds(text: string): IdRange {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const [, first, length] = /^\d+:\s+\S+\s+(\d+)\s+(\d+)\s*$/.exec(lines[0] ?? '') ?? []
  if (lines.length !== 1 || first === undefined || length === undefined) {
    throw settingsError(`getsubids says ${JSON.stringify(text)}, expected one line such as "0: kubelet 65536 7208960"`)
  }
  return { first: Number(first), length: Number(length) }
}

function show({ first, length }: IdRange): string {
  return `${length} from ${first} on`
}

function settingsError(state: string): Error {
  return new Error(`Cannot use ${SETTINGS}: ${state}`)
}
