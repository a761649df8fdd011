/** What the node is short of right now. */
export interface NodePressures {
  readonly memory: boolean
  readonly disk: boolean
  readonly pid: boolean
}
