/** The port of the Service "kubernetes". Where the machine has its address, the API listens there, and the ingress may have the port at all others. */
export const API_SERVICE_PORT = 443
