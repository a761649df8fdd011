const TERMINAL = /^\/api\/v1\/namespaces\/[\w.-]+\/pods\/[\w.-]+\/exec(?:\?|$)/

/** Whether a request target is that of a command in a container: the only one where another protocol is spoken. */
export function isTerminalPath(target: string): boolean {
  return TERMINAL.test(target)
}
