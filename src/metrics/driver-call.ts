/** A call to a driver on this node that ended, for those who count. */
export interface DriverCall {
  readonly driver: string
  /** With its service, as in "/csi.v1.Node/NodeGetInfo". */
  readonly method: string
  /** As gRPC names it. */
  readonly code: string
  readonly seconds: number
}

// Go's own spelling of two of the codes, which its dashboards look for.
const GO_CODES: ReadonlyMap<string, string> = new Map([
  ['Ok', 'OK'],
  ['Cancelled', 'Canceled'],
])

/** How the call ended, as the Go kubelet's metrics spell it. */
export function goCodeOf({ code }: Pick<DriverCall, 'code'>): string {
  return GO_CODES.get(code) ?? code
}
