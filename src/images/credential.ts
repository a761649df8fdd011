/** A name and a password for a registry. Never logged. */
export interface Login {
  readonly username: string
  readonly password: string
}

/** The Secret of the API that a login came from. */
export interface SecretIdentity {
  readonly uid: string
  readonly namespace: string
  readonly name: string
}

/** A login that a pull may try; without a secret it belongs to the node, and so to all its pods. */
export interface Credential {
  readonly login: Login
  readonly secret: SecretIdentity | undefined
}
