import type { Duplex } from 'node:stream'

/** Where a request is passed on to. */
export interface Backend {
  /** For the header and for messages, as in "10.0.0.1:10250". */
  readonly host: string
  /** Opens a connection of its own for the request. */
  readonly connect: (signal: AbortSignal) => Promise<Duplex>
  /** Path and query as they are asked for there. */
  readonly path: string
}

/** How a kubelet proves itself to the API. */
export interface KubeletTrust {
  /** The authority of its certificate, or the certificate itself, in PEM form; the API's own authority when absent. */
  readonly ca?: string
  /** The name that the certificate must have; the address that is called when absent. */
  readonly servername?: string
  /** False takes any certificate. */
  readonly rejectUnauthorized?: boolean
}

/** With which the API and a kubelet prove themselves to each other. */
export interface KubeletTls extends KubeletTrust {
  readonly ca: string
  /** The API's own certificate and key, in PEM form. */
  readonly cert: string
  readonly key: string
}
