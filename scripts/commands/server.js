#!/usr/bin/env node
import '../../packages/server-cluster/bin/dinodns-server.js';
