import type { Ingress } from '../../../model/generated/api-groups.ts'
import type { Live } from '../../engine/live-object.ts'

/** Where requests are to go: a port of a service, by its number or name; or nowhere, with the reason. */
export type RouteBackend =
  | { readonly kind: 'service'; readonly namespace: string; readonly name: string; readonly port: number | string }
  | { readonly kind: 'refused'; readonly why: string }

export interface PathRoute {
  readonly path: string
  /** Whether only this very path is meant; otherwise all below it too. */
  readonly isExact: boolean
  readonly backend: RouteBackend
}

export interface HostRoutes {
  /** In the order in which they are tried. */
  readonly paths: readonly PathRoute[]
  /** Where requests go that no path is for. */
  readonly fallback: RouteBackend | undefined
}

/** What requests are matched against. */
export interface IngressRoutes {
  /** By name, as "a.example", "*.a.example", or empty for all names. */
  readonly hosts: ReadonlyMap<string, HostRoutes>
  /** Where requests go that nothing else is for. */
  readonly fallback: RouteBackend | undefined
}

/** Something of an Ingress that is not done, for its users. */
export interface IngressProblem {
  readonly ingress: Live<Ingress>
  readonly reason: string
  readonly message: string
}
