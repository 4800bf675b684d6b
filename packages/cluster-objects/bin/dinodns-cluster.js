#!/usr/bin/env node
import '#dinodns-cluster';
